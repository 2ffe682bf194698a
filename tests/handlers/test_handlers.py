"""What the download handler does, over real connections on loopback."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse
from support.free_port import free_port

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def answer(*headers: bytes, body: bytes = b"", status: bytes = b"200 OK") -> bytes:
    lines = [b"HTTP/1.1 " + status, *headers, b"Content-Length: %d" % len(body)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def chunked(*chunks: bytes, trailer: bytes = b"") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in chunks) + b"0\r\n" + trailer + b"\r\n"


def endless(_: bytes) -> Iterator[bytes | float]:
    yield b"HTTP/1.1 200 OK\r\n\r\n"
    while True:
        yield b"x" * 4096


def slow(_: bytes) -> Iterator[bytes | float]:
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
    for _piece in range(100):
        yield 0.1
        yield b"x"


def test_a_response_has_url_status_headers_body_address_and_protocol(client: Any, serve: Any) -> None:
    server = serve(
        answer(b"Content-Type: text/html; charset=utf-8", b"X-A: 1", b"x-a: 2", body="grün".encode())
    )
    request = Request(server.url + "page?q=1#part")
    response = client.get(request)
    assert (type(response), response.url.partition("#")[0], response.status) == (
        HtmlResponse,
        server.url + "page?q=1",
        200,
    )
    assert response.headers.getlist("X-A") == [b"1", b"2"]
    assert (response.text, str(response.ip_address), response.protocol) == ("grün", "127.0.0.1", "HTTP/1.1")
    assert 0 < request.meta["download_latency"] < 5
    assert server.requests[0].startswith(b"GET /page?q=1 HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        pytest.param(b"text/html", b"<p>", HtmlResponse, id="html"),
        pytest.param(b"application/xml", b"<a/>", XmlResponse, id="xml"),
        pytest.param(b"application/json", b"{}", JsonResponse, id="json"),
        pytest.param(b"text/plain", b"x", TextResponse, id="text"),
        pytest.param(b"application/pdf", b"%PDF\x00\x01", Response, id="binary"),
    ],
)
def test_the_class_of_the_response(
    client: Any, serve: Any, content_type: bytes, body: bytes, kind: type
) -> None:
    response = client.get(serve(answer(b"Content-Type: " + content_type, body=body)).url)
    assert (type(response), response.body) == (kind, body)


@pytest.mark.parametrize("status", [204, 301, 304, 401, 404, 500, 503])
def test_every_status_is_a_response(client: Any, serve: Any, status: int) -> None:
    head = b"HTTP/1.1 %d Any\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n" % status
    server = serve(head)
    response = client.get(server.url)
    assert (response.status, response.body, len(server.requests)) == (status, b"", 1)


def test_the_body_is_not_decoded(client: Any, serve: Any) -> None:
    packed = gzip.compress(b"<html>page</html>")
    server = serve(answer(b"Content-Type: text/html", b"Content-Encoding: gzip", body=packed))
    response = client.get(Request(server.url, headers={"Accept-Encoding": "gzip"}))
    assert response.body == packed
    assert b"\r\nAccept-Encoding: gzip\r\n" in server.requests[0]


@pytest.mark.parametrize("plain", [b"<html>page</html>", b""])
def test_a_coding_that_the_body_has_not_is_no_header(client: Any, serve: Any, plain: bytes) -> None:
    named = [b"Content-Type: text/html", b"Content-Encoding: gzip"]
    server = serve(answer(*named, body=plain))
    response = client.get(server.url)
    assert (response.body, b"Content-Encoding" in response.headers) == (plain, not plain)


@pytest.mark.parametrize(
    ("method", "body", "status"),
    [
        pytest.param("POST", b"a=1&b=2", 200, id="post"),
        pytest.param("PUT", b"x" * 100_000, 200, id="put-large"),
        pytest.param("DELETE", b"", 200, id="delete"),
        pytest.param("OPTIONS", b"", 200, id="options"),
    ],
)
def test_method_and_body(client: Any, serve: Any, method: str, body: bytes, status: int) -> None:
    server = serve(OK)
    request = Request(server.url, method=method, body=body, headers={"Content-Type": "text/x"})
    assert client.get(request).status == status
    head, _, sent = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(method.encode() + b" / HTTP/1.1\r\n")
    assert sent == body
    assert b"Expect" not in head
    assert head.count(b"Content-Type") == 1


def test_a_method_with_a_line_break_is_not_sent(client: Any, serve: Any) -> None:
    server = serve(OK)
    with pytest.raises((ValueError, DownloadFailedError)):
        client.get(Request(server.url, method="GET / HTTP/1.1\r\nX: y\r\n\r\nGET"))
    assert server.requests == []


def test_head_has_headers_and_no_body(client: Any, serve: Any) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nContent-Type: text/html\r\n\r\n")
    response = client.get(Request(server.url, method="HEAD"), DOWNLOAD_MAXSIZE=10_000)
    assert (response.status, response.body, response.headers["Content-Length"]) == (200, b"", b"5000")


def test_requests_after_an_unusual_one_are_plain_again(client: Any, serve: Any) -> None:
    server = serve(OK, keep=True)
    handler = client.handler()
    for request in (
        Request(server.url, method="POST", body=b"x", headers={"X-First": "1"}),
        Request(server.url),
    ):
        client.send(handler, request)
    assert server.requests[1].startswith(b"GET / HTTP/1.1\r\n")
    assert b"X-First" not in server.requests[1]
    assert server.requests[1].endswith(b"\r\n\r\n")


def test_headers_are_those_of_the_request(client: Any, serve: Any) -> None:
    server = serve(OK)
    headers = {"X-Zebra": "1", "Accept": "text/html", "X-Many": ["a", "b"], "User-Agent": "crawler/1"}
    client.get(Request(server.url, headers=headers))
    lines = server.requests[0].split(b"\r\n")[1:-2]
    names = {line.partition(b":")[0].lower() for line in lines}
    assert names - {b"host", b"connection"} == {b"x-zebra", b"accept", b"x-many", b"user-agent"}
    assert [line for line in lines if line.lower().startswith(b"x-many")] == [b"X-Many: a", b"X-Many: b"]


def test_a_line_break_in_a_header_adds_no_header(client: Any, serve: Any) -> None:
    server = serve(OK)
    client.get(Request(server.url, headers={"X-A": "1\r\nX-Evil: 2"}))
    assert not any(line.startswith(b"X-Evil") for line in server.requests[0].split(b"\r\n"))


def test_connections_are_kept(client: Any, serve: Any) -> None:
    server = serve(OK, keep=True)
    handler = client.handler()
    for _ in range(3):
        client.send(handler, Request(server.url))
    assert (len(server.requests), server.connections) == (3, 1)


def test_many_requests_at_once(client: Any, serve: Any) -> None:
    server = serve(lambda raw: iter([answer(body=raw.split()[1])]), keep=True)
    responses = client.send(client.handler(), *(Request(f"{server.url}{i}") for i in range(100)))
    assert [response.body for response in responses] == [b"/%d" % i for i in range(100)]


def test_a_closed_connection_is_replaced(client: Any, serve: Any) -> None:
    server = serve(OK)
    handler = client.handler()
    bodies = [client.send(handler, Request(server.url))[0].body for _ in range(3)]
    assert (bodies, server.connections) == ([b"ok"] * 3, 3)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Fold: a\r\n  b\r\nContent-Length: 2\r\n\r\nok", id="folded"),
        pytest.param(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK, id="interim"),
        pytest.param(b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", id="no-reason"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\nok", id="http-1.0-until-close"),
        pytest.param(chunked(b"o", b"k", trailer=b"X-Sum: 1\r\n"), id="chunked-with-trailer"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: \xff\xfe\x80\r\nContent-Length: 2\r\n\r\nok", id="header-bytes"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", id="length-twice"
        ),
    ],
)
def test_odd_but_complete_answers(client: Any, serve: Any, raw: bytes) -> None:
    response = client.get(serve(raw).url)
    assert (response.status, response.body) == (200, b"ok")
    assert "Link" not in response.headers


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="other-protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Le", id="broken-head"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nok", id="negative-length"),
    ],
)
def test_answers_that_are_none(client: Any, serve: Any, raw: bytes) -> None:
    with pytest.raises(DownloadFailedError):
        client.get(serve(raw).url)


BROKEN = {
    "short": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
}


@pytest.mark.parametrize("raw", BROKEN.values(), ids=BROKEN)
def test_a_body_that_breaks_off_is_an_error(client: Any, serve: Any, raw: bytes) -> None:
    with pytest.raises(ResponseDataLossError):
        client.get(serve(raw).url)


@pytest.mark.parametrize("raw", BROKEN.values(), ids=BROKEN)
def test_a_body_that_breaks_off_may_be_kept(client: Any, serve: Any, raw: bytes) -> None:
    response = client.get(serve(raw).url, DOWNLOAD_FAIL_ON_DATALOSS=False)
    assert (response.body, response.flags) == (b"short", ["dataloss"])


@pytest.mark.parametrize(
    ("raw", "meta"),
    [
        pytest.param(answer(body=b"x" * 2000), {}, id="announced"),
        pytest.param(chunked(b"x" * 600, b"x" * 600), {}, id="chunked"),
        pytest.param(endless, {}, id="endless-P5"),
        pytest.param(answer(body=b"x" * 600), {"download_maxsize": 500}, id="by-request"),
    ],
)
def test_a_body_above_maxsize_is_stopped(client: Any, serve: Any, raw: Any, meta: dict[str, Any]) -> None:
    with pytest.raises(DownloadCancelledError):
        client.get(Request(serve(raw).url, meta=meta), DOWNLOAD_MAXSIZE=1000)


@pytest.mark.parametrize("size", [999, 1000])
def test_a_body_up_to_maxsize_is_not_stopped(client: Any, serve: Any, size: int) -> None:
    assert len(client.get(serve(answer(body=b"x" * size)).url, DOWNLOAD_MAXSIZE=1000).body) == size


@pytest.mark.parametrize("meta", [{}, {"download_timeout": 0.3}], ids=["setting", "meta"])
def test_a_slow_body_meets_the_timeout(client: Any, serve: Any, meta: dict[str, Any]) -> None:
    settings = {} if meta else {"DOWNLOAD_TIMEOUT": 0.3}
    with pytest.raises(DownloadTimeoutError):
        client.get(Request(serve(slow).url, meta=meta), **settings)


def test_a_server_that_says_nothing_meets_the_timeout(client: Any, serve: Any) -> None:
    with pytest.raises(DownloadTimeoutError):
        client.get(serve(lambda _: iter([1.0, b""])).url, DOWNLOAD_TIMEOUT=0.2)


def test_nobody_listens(client: Any) -> None:
    with pytest.raises(DownloadConnectionRefusedError):
        client.get(f"http://127.0.0.1:{free_port()}/")


def test_a_name_that_does_not_exist(client: Any) -> None:
    with pytest.raises(CannotResolveHostError):
        client.get("http://no-such-host.invalid/")


def test_the_handler_lives_on_after_failures(client: Any, serve: Any) -> None:
    handler, good = client.handler(DOWNLOAD_MAXSIZE=1000), serve(OK, keep=True)
    for bad in (BROKEN["short"], answer(body=b"x" * 2000), b""):
        with pytest.raises((ResponseDataLossError, DownloadCancelledError, DownloadFailedError)):
            client.send(handler, Request(serve(bad).url))
        assert client.send(handler, Request(good.url))[0].body == b"ok"
