"""What protects the network around the crawler: address guard, proxies, TLS, credentials."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadFailedError

from ultracrawl.handlers.download_control import guard_of
from ultracrawl.model import Decision
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.run.download_errors.kinds import AddressRefusedError
from ultracrawl.run.lifecycle import CrawlLifecycle

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Guard:
    """Accepts the listed addresses and notes what it was asked."""

    allowed: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)

    def check(self, address: str, host: str) -> Decision:
        self.asked.append(address)
        self.hosts.append(host)
        return Decision(address in self.allowed, "address", "address test", f"asked for {address}")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433"])
def test_p1_a_refused_address_is_not_connected_to(client: Any, serve: Any, host: str) -> None:
    server = serve(OK)
    with pytest.raises(AddressRefusedError) as caught:
        client.get(f"http://{host}:{server.port}/", AddressPolicy())
    assert caught.value.decision.rule == "address loopback"
    assert server.connections == 0


def test_p1_ipv6_and_mapped_addresses_are_asked_for(client: Any) -> None:
    with pytest.raises(AddressRefusedError):
        client.get("http://[::ffff:127.0.0.1]:9/", AddressPolicy())
    with pytest.raises(AddressRefusedError):
        client.get("http://[::1]:9/", AddressPolicy())


def test_p2_an_allowed_address_is_connected_to_and_asked_for_once(client: Any, serve: Any) -> None:
    guard, server = Guard(("127.0.0.1",)), serve(OK, keep=True)
    handler = client.handler(guard)
    for _ in range(3):
        assert client.send(handler, Request(server.url))[0].body == b"ok"
    assert guard.asked == ["127.0.0.1"]


def test_p1_only_the_allowed_address_of_a_name_is_taken(client: Any, serve: Any) -> None:
    server = serve(OK)
    response = client.get(f"http://localhost:{server.port}/", Guard(("127.0.0.1",)))
    assert (response.body, str(response.ip_address)) == (b"ok", "127.0.0.1")


def test_p1_the_guard_gets_the_host_of_the_address(client: Any, serve: Any) -> None:
    guard, server = Guard(("127.0.0.1",)), serve(OK)
    client.get(f"http://localhost:{server.port}/", guard)
    client.get(Request("http://example.test/page", meta={"proxy": f"http://localhost:{server.port}"}), guard)
    assert set(guard.hosts) == {"localhost"}


def test_an_allowed_address_may_refuse_the_connection(client: Any) -> None:
    with pytest.raises(DownloadConnectionRefusedError):
        client.get("http://127.0.0.1:1/", Guard(("127.0.0.1",)))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("target", ["http://example.test/", "https://example.test/"])
def test_p1_the_address_of_a_proxy_is_asked_for(client: Any, serve: Any, host: str, target: str) -> None:
    server = serve(OK)
    request = Request(target, meta={"proxy": f"http://{host}:{server.port}"})
    with pytest.raises(AddressRefusedError):
        client.get(request, AddressPolicy())
    assert server.connections == 0


def test_a_proxy_gets_the_whole_url_and_its_own_credentials(client: Any, serve: Any) -> None:
    server = serve(OK)
    headers = {"Proxy-Authorization": "Basic c2VjcmV0", "X-A": "1"}
    request = Request("http://example.test/page", headers=headers, meta={"proxy": server.url})
    assert client.get(request, Guard(("127.0.0.1",))).body == b"ok"
    assert server.requests[0].startswith(b"GET http://example.test/page HTTP/1.1\r\n")
    assert server.requests[0].lower().count(b"proxy-authorization: basic c2vjcmv0") == 1


def test_p4_proxy_credentials_do_not_go_to_the_site(client: Any, serve: Any) -> None:
    server = serve(OK)
    client.get(Request(server.url, headers={"Proxy-Authorization": "Basic c2VjcmV0"}))
    assert b"c2VjcmV0" not in server.requests[0]


def test_p4_proxy_credentials_do_not_go_through_a_tunnel(client: Any, serve: Any, tls: Any) -> None:
    proxy = serve(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
    headers = {"Proxy-Authorization": "Basic c2VjcmV0", "X-Private": "1"}
    request = Request("https://example.test/", headers=headers, meta={"proxy": proxy.url})
    with pytest.raises(DownloadFailedError, match="407"):
        client.get(request)
    assert proxy.requests[0].startswith(b"CONNECT example.test:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic c2VjcmV0\r\n" in proxy.requests[0]
    assert b"X-Private" not in proxy.requests[0]


def test_p4_user_and_password_of_a_url_are_not_sent(client: Any, serve: Any) -> None:
    server = serve(OK)
    assert client.get(f"http://user:secret@127.0.0.1:{server.port}/a@b").body == b"ok"
    assert server.requests[0].startswith(b"GET /a@b HTTP/1.1\r\n")
    assert b"uthorization" not in server.requests[0]


def test_proxies_of_the_environment_are_not_taken(client: Any, serve: Any, monkeypatch: Any) -> None:
    proxy, server = serve(OK), serve(OK)
    monkeypatch.setenv("http_proxy", proxy.url)
    assert client.get(server.url).body == b"ok"
    assert (len(proxy.requests), len(server.requests)) == (0, 1)


def test_no_proxy_of_the_environment_does_not_undo_a_proxy(client: Any, serve: Any, monkeypatch: Any) -> None:
    proxy = serve(OK)
    monkeypatch.setenv("no_proxy", "*")
    assert client.get(Request("http://example.test/", meta={"proxy": proxy.url})).body == b"ok"


def test_framing_headers_of_a_request_are_not_believed(client: Any, serve: Any) -> None:
    server = serve(OK)
    headers = {"Content-Length": "1", "Transfer-Encoding": "chunked"}
    client.get(Request(server.url, method="POST", body=b"four", headers=headers))
    assert b"Content-Length: 4\r\n" in server.requests[0]
    assert b"Transfer-Encoding" not in server.requests[0]


def test_a_self_signed_certificate_is_refused(client: Any, serve: Any, tls: Any) -> None:
    server = serve(OK, tls=tls)
    with pytest.raises(DownloadFailedError):
        client.get(server.url, DOWNLOAD_VERIFY_CERTIFICATES=True)
    assert server.requests == []


def test_a_self_signed_certificate_passes_when_nothing_is_verified(client: Any, serve: Any, tls: Any) -> None:
    assert client.get(serve(OK, tls=tls).url, DOWNLOAD_VERIFY_CERTIFICATES=False).body == b"ok"


def test_a_certificate_of_the_machine_is_trusted(
    client: Any, serve: Any, tls: Any, certificate: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert client.get(serve(OK, tls=tls).url, DOWNLOAD_VERIFY_CERTIFICATES=True).body == b"ok"


def test_an_unknown_tls_version_is_an_error(client: Any) -> None:
    with pytest.raises(ValueError, match="DOWNLOAD_TLS_MIN_VERSION is 'SSLv3'; write one of"):
        client.handler(DOWNLOAD_TLS_MIN_VERSION="SSLv3")


class _Life(CrawlLifecycle):
    def __init__(self, policy: AddressPolicy) -> None:
        rules = SimpleNamespace(addresses=policy)
        self.context = SimpleNamespace(rules=rules)  # type: ignore[assignment]  # only this rule is asked for


def test_the_guard_is_the_address_policy_of_the_source() -> None:
    crawler, policy = Crawler(Spider), AddressPolicy()
    crawler.extensions = SimpleNamespace(middlewares=[_Life(policy)])  # type: ignore[assignment]  # a stand-in
    assert guard_of(crawler) is policy


def test_without_a_crawl_there_is_no_guard() -> None:
    crawler = Crawler(Spider)
    crawler.extensions = SimpleNamespace(middlewares=[])  # type: ignore[assignment]  # a stand-in
    assert guard_of(crawler) is None


def test_the_answer_of_a_proxy_that_refuses_a_tunnel_is_no_response(client: Any, serve: Any) -> None:
    body = b"x" * 10
    proxy = serve(b"HTTP/1.1 407 Who?\r\nContent-Length: 10\r\n\r\n" + body)
    request = Request("https://example.test/", meta={"proxy": proxy.url})
    with pytest.raises(DownloadFailedError, match="407"):
        client.get(request, DOWNLOAD_FAIL_ON_DATALOSS=False)


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "dict://127.0.0.1/"]
)
def test_p3_other_schemes_are_closed(client: Any, url: str) -> None:
    with pytest.raises(DownloadFailedError, match=r"[Pp]rotocol"):
        client.get(url)
