"""What a source shows to servers goes out with every handler, to its own origin, and stays with nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any

import pytest
from handlers.conftest import Runner
from handlers.raw_server import RawServer
from handlers.ways import Way
from scrapy import Request
from scrapy.http import Response
from support.context import made_context
from support.proxy import Proxy

from ultracrawl.rules.access.credentials import basic_answer
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.run.auth.chain import AuthChain
from ultracrawl.sources import DataSource, compile_source

SECRET = "hunter2-of-the-source"
BASIC = basic_answer("u", SECRET).encode()
LOOPBACK = AddressPolicy((ip_network("127.0.0.0/8"),))
KINDS = ("ours", "http11", "http2")
STATUSES = (301, 302, 303, 307, 308)


class Http2Server:
    """A server of the test's reactor that speaks HTTP/2; `requests` are path, headers and body of each, as bytes."""

    def __init__(
        self, runner: Runner, certificate: Any, answer: Callable[[bytes], tuple[int, dict[str, str]]]
    ) -> None:
        self._runner = runner
        self.requests: list[bytes] = []
        self._answer = answer
        self._port = runner.run(self._listen(certificate))
        self.url = f"https://127.0.0.1:{self._port.getHost().port}/"

    async def _listen(self, certificate: Any) -> Any:
        from OpenSSL import SSL
        from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
        from twisted.web.resource import Resource
        from twisted.web.server import Site
        from zope.interface import implementer

        server = self

        class Everything(Resource):
            isLeaf = True

            def render(self, request: Any) -> bytes:
                lines = [
                    b"%b: %b" % (name, value)
                    for name, values in request.requestHeaders.getAllRawHeaders()
                    for value in values
                ]
                server.requests.append(b"\r\n".join([request.uri, *lines, b"", request.content.read()]))
                status, headers = server._answer(request.uri)
                request.setResponseCode(status)
                for name, value in headers.items():
                    request.setHeader(name, value)
                return b""

        context = SSL.Context(SSL.TLS_METHOD)
        context.use_certificate_file(str(certificate))
        context.use_privatekey_file(str(certificate))
        context.set_alpn_select_callback(
            lambda _, offered: b"h2" if b"h2" in offered else SSL.NO_OVERLAPPING_PROTOCOLS
        )

        @implementer(IOpenSSLServerConnectionCreator)
        class Connections:
            def serverConnectionForTLS(self, protocol: Any) -> Any:
                return SSL.Connection(context, None)

        return self._runner.reactor.listenSSL(0, Site(Everything()), Connections(), interface="127.0.0.1")

    def close(self) -> None:
        self._runner.reactor.callFromThread(self._port.stopListening)


@pytest.fixture
def server_of(runner: Runner, serve: Any, certificate: Any) -> Iterator[Callable[..., Any]]:
    """Return what starts a server for a kind of handler; `answer` gives status and headers for a path."""
    made: list[Http2Server] = []

    def server_of(kind: str, answer: Callable[[bytes], tuple[int, dict[str, str]]]) -> Any:
        if kind == "http2":
            made.append(Http2Server(runner, certificate, answer))
            return made[-1]

        def script(request: bytes) -> Iterator[bytes]:
            status, headers = answer(request.split(b" ")[1])
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            yield f"HTTP/1.1 {status} S\r\n{lines}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()

        return serve(script)

    yield server_of
    for server in made:
        server.close()


@pytest.fixture
def way_to(runner: Runner) -> Iterator[Callable[..., Way]]:
    """Return what makes a handler for a source with credentials for `/staff` of an origin."""
    made: list[Way] = []

    def way_to(kind: str, origin: str, **options: Any) -> Way:
        entry = {"url": f"{origin}staff", "user": "u", "password": SECRET, "scheme": "basic"}
        own: dict[str, Any] = {
            "authentication": {"a": entry},
            "site_headers": {"h": {"url": f"{origin}staff", "headers": {"X-Token": SECRET}}},
            "cookies": {"enabled": True},
        }
        fields = {"name": "s", "start_urls": [origin], **own, **options}
        source = DataSource.model_validate(fields)
        project: Any = SimpleNamespace(key_file=None)
        rules = compile_source(source)
        chain = AuthChain(made_context(source, project=project, rules=rules), lanes=kind == "ours")
        made.append(Way(kind, runner, LOOPBACK, chain))
        return made[-1]

    yield way_to
    for way in made:
        way.close()


def secrets_in(one: Request | Response) -> bool:
    """Whether something of a request or response tells a secret."""
    told = (
        repr((dict(one.headers), {**one.meta}, one.url, one.body))
        if isinstance(one, Request)
        else repr(one.url)
    )
    return any(text in told for text in (SECRET, BASIC.decode(), "sid="))


def answers(path: bytes) -> tuple[int, dict[str, str]]:
    return 200, {"Set-Cookie": f"sid={SECRET}; Path=/staff"}


@pytest.mark.parametrize("kind", KINDS)
def test_p4_credentials_go_below_their_url_and_stay_with_no_request(
    server_of: Callable[..., Any], way_to: Callable[..., Way], kind: str
) -> None:
    own, other = server_of(kind, answers), server_of(kind, answers)
    way = way_to(kind, own.url)
    for path in ("staff/a", "staff/b", "staffroom"):
        request = way.request(own.url + path)
        response = way.get(request)
        assert response.status == 200
        assert response.request in (None, request)
        assert not secrets_in(request)
    way.get(f"{other.url}staff/a".replace("127.0.0.1", "localhost"))
    shown = [(BASIC in one, SECRET.encode() in one.replace(BASIC, b"")) for one in own.requests]
    assert shown == [(True, True), (True, True), (False, False)]
    assert [b"sid=" in one for one in own.requests] == [False, True, False]
    assert not any(BASIC in one or b"sid=" in one or SECRET.encode() in one for one in other.requests)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("kind", KINDS)
def test_p4_nothing_follows_a_redirect_to_another_origin(
    server_of: Callable[..., Any], way_to: Callable[..., Way], kind: str, status: int
) -> None:
    other = server_of(kind, answers)
    elsewhere = f"{other.url}staff/x".replace("127.0.0.1", "localhost")
    location = {"Location": elsewhere, "Set-Cookie": f"sid={SECRET}; Path=/"}
    own = server_of(kind, lambda path: (status, location) if path == b"/staff/go" else answers(path))
    way = way_to(kind, own.url)
    request = way.request(f"{own.url}staff/go", method="POST", body=b"words-of-a-form")
    assert way.get(request).status == status
    assert BASIC in own.requests[0]
    assert other.requests == []
    # What redirect and retry middlewares make of it.
    way.get(request.replace(url=elsewhere, method="GET", body=b""))
    way.get(request.copy())
    assert [BASIC in one or SECRET.encode() in one or b"words" in one for one in other.requests] == [False]
    assert BASIC in own.requests[1]


@pytest.mark.parametrize("kind", ["ours", "http11"])
def test_a_challenge_is_answered(serve: Any, way_to: Callable[..., Way], kind: str) -> None:
    challenge = b'Digest realm="R", nonce="n", qop="auth", algorithm=SHA-256'

    def script(request: bytes) -> Iterator[bytes]:
        known = b"uthorization: Digest" in request
        head = b"200 OK" if known else b"401 Who?\r\nWWW-Authenticate: " + challenge
        yield b"HTTP/1.1 " + head + b"\r\nContent-Length: 0\r\n\r\n"

    server: RawServer = serve(script)
    entry = {"url": f"{server.url}staff", "user": "u", "password": SECRET, "scheme": "auto"}
    way = way_to(kind, server.url, authentication={"a": entry}, site_headers={}, cookies={})
    request = way.request(f"{server.url}staff/a")
    assert (way.get(request).status, len(server.requests)) == (200, 2)
    assert "Authorization" not in request.headers


@pytest.mark.parametrize("kind", ["ours", "http11"])
def test_p4_the_password_of_a_proxy_goes_to_the_proxy(
    server_of: Callable[..., Any], way_to: Callable[..., Way], kind: str
) -> None:
    server = server_of(kind, answers)
    with Proxy({"site.test": server.port}, "p", SECRET) as proxy:
        servers = {"main": {"url": proxy.url, "user": "p", "password": SECRET}}
        way = way_to(kind, server.url, proxy={"servers": servers})
        request = way.request("http://site.test/page")
        assert way.get(request).status == 200
    assert "proxy-authorization: basic" in proxy.text.lower()
    assert b"uthorization" not in server.requests[0]
    assert not secrets_in(request)
    assert "proxy" not in request.meta
