"""The test site answers as written and records what it was asked."""

import gzip
import http.client
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from support.client import ask, dial
from support.clock import monotonic_time
from support.site import Reply, Request, Site


def test_a_page_carries_what_was_asked_for() -> None:
    site = Site()
    site.page(
        "/",
        title="A & B",
        links=["/a?x=1&y=2"],
        text="1 < 2",
        robots="noindex",
        head='<base href="/">\n',
        lang="de",
    )
    with site.serve() as url:
        status, headers, body = ask(f"{url}/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    text = body.decode()
    for piece in (
        '<html lang="de">',
        "<title>A &amp; B</title>",
        '<a href="/a?x=1&amp;y=2">',
        "<p>1 &lt; 2</p>",
        '<meta name="robots" content="noindex">',
        '<base href="/">',
    ):
        assert piece in text


def test_what_is_not_there_answers_404_and_is_recorded() -> None:
    site = Site()
    with site.serve() as url:
        assert ask(f"{url}/none?q=1")[0] == 404
    assert site.paths() == ["/none?q=1"]
    assert site.count("/none?q=1") == 1
    assert site.bodies == 0


def test_a_request_is_recorded_whole() -> None:
    site = Site()
    site.page("/form")
    before = monotonic_time()
    with site.serve() as url:
        ask(f"{url}/form", "POST", {"X-Odd": "1"}, b"a=b")
    (request,) = site.requests
    assert (request.method, request.path, request.body, request.status) == ("POST", "/form", b"a=b", 200)
    assert request.header("x-odd") == "1"
    assert request.header("Host") == urlsplit(url).netloc
    assert before <= request.time <= monotonic_time()
    assert request.sent > 100


def test_paths_outside_ascii_are_percent_encoded() -> None:
    site = Site()
    site.page("/übung")
    with site.serve() as url:
        assert ask(f"{url}/%C3%BCbung")[0] == 200
    assert site.count("/übung") == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect(status: int) -> None:
    site = Site()
    site.redirect("/old", "/new", status=status)
    with site.serve() as url:
        found, headers, _ = ask(f"{url}/old")
    assert (found, headers["location"]) == (status, "/new")


def test_robots_file_gone_and_odd_answers() -> None:
    site = Site()
    site.robots("User-agent: *\nDisallow: /private")
    site.file("/x.pdf", b"%PDF-", "application/pdf", headers={"X-Robots-Tag": "noindex"})
    site.gone("/x")
    site.respond("/odd", status=500, headers=[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], body="boom")
    with site.serve() as url:
        assert ask(f"{url}/robots.txt")[2] == b"User-agent: *\nDisallow: /private"
        _, headers, body = ask(f"{url}/x.pdf")
        assert (headers["content-type"], headers["x-robots-tag"], body) == (
            "application/pdf",
            "noindex",
            b"%PDF-",
        )
        assert ask(f"{url}/x")[0] == 410
        status, headers, body = ask(f"{url}/odd")
        assert (status, body, headers["set-cookie"]) == (500, b"boom", "b=2")
    assert site.bodies == 2


def test_sitemap_has_absolute_entries_of_the_host_asked() -> None:
    site = Site()
    site.sitemap("/sitemap.xml", ["/a"])
    with site.serve() as url:
        assert f"<loc>{url}/a</loc>" in ask(f"{url}/sitemap.xml")[2].decode()


LATER = "Tue, 02 Jan 2024 00:00:00 GMT"
EARLIER = "Sun, 31 Dec 2023 23:59:59 GMT"
SAME = "Mon, 01 Jan 2024 00:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"If-None-Match": "{etag}"}, 304, id="same-tag"),
        pytest.param({"If-None-Match": "W/{etag}"}, 304, id="weak-comparison"),
        pytest.param({"If-None-Match": '"other", {etag}'}, 304, id="list-of-tags"),
        pytest.param({"If-None-Match": "*"}, 304, id="any-tag"),
        pytest.param({"If-None-Match": '"other"'}, 200, id="other-tag"),
        pytest.param({"If-None-Match": '"other"', "If-Modified-Since": LATER}, 200, id="tag-before-date"),
        pytest.param({"If-Modified-Since": SAME}, 304, id="same-date"),
        pytest.param({"If-Modified-Since": LATER}, 304, id="later-date"),
        pytest.param({"If-Modified-Since": EARLIER}, 200, id="earlier-date"),
        pytest.param({"If-Modified-Since": "yesterday"}, 200, id="bad-date"),
    ],
)
def test_conditional_request(headers: dict[str, str], status: int) -> None:
    site = Site()
    site.page("/", text="x")
    with site.serve() as url:
        _, first, _ = ask(f"{url}/")
        site.reset()
        sent = {name: value.replace("{etag}", first["etag"]) for name, value in headers.items()}
        found, second, body = ask(f"{url}/", headers=sent)
    assert first["last-modified"] == SAME
    assert found == status
    assert second["etag"] == first["etag"]
    assert bool(body) == (status == 200)
    assert site.bodies == (status == 200)
    assert site.statuses("/") == [status]


@pytest.mark.parametrize(
    ("site_etag", "page_etag", "sent"),
    [(True, None, True), (True, False, False), (False, None, False), (False, True, True)],
)
def test_validators_can_be_switched_off(site_etag: bool, page_etag: bool | None, sent: bool) -> None:
    site = Site(etag=site_etag, last_modified=site_etag)
    site.page("/", etag=page_etag, modified=page_etag)
    with site.serve() as url:
        _, headers, _ = ask(f"{url}/")
    assert ("etag" in headers, "last-modified" in headers) == (sent, sent)


def test_validators_can_be_set() -> None:
    site = Site()
    site.page("/", etag='W/"v1"', modified=datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC))
    with site.serve() as url:
        _, headers, _ = ask(f"{url}/")
        site.change("/", text="new")
        _, changed, _ = ask(f"{url}/")
    assert (headers["etag"], headers["last-modified"]) == ('W/"v1"', "Mon, 03 Feb 2020 04:05:06 GMT")
    assert (changed["etag"], changed["last-modified"]) == ('W/"v1"', "Mon, 03 Feb 2020 05:05:06 GMT")


def test_change_keeps_the_rest_and_renews_the_validators() -> None:
    site = Site()
    site.page("/", title="T", links=["/a"], text="old")
    with site.serve() as url:
        _, before, _ = ask(f"{url}/")
        site.change("/", text="new")
        _, after, body = ask(f"{url}/", headers={"If-None-Match": before["etag"]})
    assert b"<p>new</p>" in body
    assert b"<title>T</title>" in body
    assert b'href="/a"' in body
    assert before["etag"] != after["etag"]
    assert before["last-modified"] != after["last-modified"]


def test_change_of_a_file_remove_and_errors() -> None:
    site = Site()
    site.file("/f", b"1", "text/plain")
    site.change("/f", body=b"22")
    with site.serve() as url:
        assert ask(f"{url}/f")[2] == b"22"
        site.remove("/f")
        assert ask(f"{url}/f")[0] == 404
    with pytest.raises(KeyError):
        site.change("/f", body=b"3")
    site.file("/f", b"1", "text/plain")
    with pytest.raises(TypeError, match="not a page"):
        site.change("/f", text="x")
    with pytest.raises(ValueError, match="slash"):
        site.page("a")


def test_slow_page_keeps_only_its_own_connection_waiting() -> None:
    site = Site()
    site.slow("/s", 0.3)
    site.page("/h")
    site.page("/")
    answer = site.hold("/h")
    with site.serve() as url, ThreadPoolExecutor() as pool:
        held = pool.submit(ask, f"{url}/h")
        while not site.count("/h"):
            assert not held.done()
        assert ask(f"{url}/")[0] == 200
        assert not held.done()
        answer.set()
        assert held.result()[0] == 200
        start = time.monotonic()
        assert ask(f"{url}/s")[0] == 200
        assert time.monotonic() - start >= 0.29


def test_raw_bytes_truncate_a_body() -> None:
    site = Site()
    site.raw("/t", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
    site.raw("/hangup", b"")
    with site.serve() as url:
        with pytest.raises(http.client.IncompleteRead):
            ask(f"{url}/t")
        with pytest.raises(http.client.RemoteDisconnected):
            ask(f"{url}/hangup")
    assert site.bodies == 0


@pytest.mark.parametrize("unpacked", [0, 10, 1 << 20, (5 << 20) + 17])
def test_gzip_bomb_is_valid_and_small(unpacked: int) -> None:
    site = Site()
    site.gzip_bomb("/bomb", unpacked=unpacked)
    with site.serve() as url:
        _, headers, body = ask(f"{url}/bomb")
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(body) == bytes(unpacked)
    stream = zlib.decompressobj(31)
    assert len(stream.decompress(body)) == unpacked
    assert stream.eof, "one member, so that readers of a first member see it all"
    assert len(body) < 100 + unpacked // 900


def test_drip_sends_chunks_and_may_never_end() -> None:
    site = Site()
    site.drip("/three", b"ab", pause=0.001, times=3)
    site.drip("/endless", b"x" * 1000, pause=0.001)
    with site.serve() as url:
        assert ask(f"{url}/three")[2] == b"ababab"
        with dial(url) as client:
            client.sendall(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
            seen = 0
            while seen < 50_000:
                seen += len(client.recv(65536))


def test_dynamic_answers_for_a_beginning() -> None:
    site = Site()

    def answer(request: Request) -> Reply:
        return Reply(200, (), request.path.encode())

    site.dynamic("/cal/*", answer)
    site.page("/cal/fixed", title="fixed")
    with site.serve() as url:
        assert ask(f"{url}/cal/2024/1")[2] == b"/cal/2024/1"
        assert b"<title>fixed" in ask(f"{url}/cal/fixed")[2]
        assert ask(f"{url}/calm")[0] == 404


def test_head_sends_no_body() -> None:
    site = Site()
    site.page("/", text="x")
    with site.serve() as url:
        status, headers, body = ask(f"{url}/", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 0
    assert site.requests[0].sent == 0


def test_several_hosts_at_once() -> None:
    site = Site()
    site.page("/", text="x")
    with site.serve() as one, site.serve(host="127.0.0.2") as two:
        assert two.startswith("http://127.0.0.2:")
        assert ask(f"{one}/")[0] == ask(f"{two}/")[0] == 200
    assert {request.header("host") for request in site.requests} == {
        urlsplit(one).netloc,
        urlsplit(two).netloc,
    }


def test_a_taken_port_raises_and_the_end_frees_it() -> None:
    site = Site()
    with site.serve() as url:
        port = urlsplit(url).port
        assert port is not None
        with pytest.raises(OSError, match="in use"), site.serve(port=port):
            pass
    with site.serve(port=port):
        pass
    with pytest.raises(ConnectionRefusedError):
        ask(f"{url}/")


def test_sixty_four_connections_are_kept_alive() -> None:
    site = Site()
    for number in range(20):
        site.page(f"/{number}", text="x" * 1000)

    def walk(address: tuple[str, int]) -> int:
        connection = http.client.HTTPConnection(*address, timeout=100)
        connection.connect()
        own = connection.sock
        good = 0
        for number in range(20):
            connection.request("GET", f"/{number}")
            answer = connection.getresponse()
            good += answer.status == 200 and len(answer.read()) > 1000 and connection.sock is own
        connection.close()
        return good

    with site.serve() as url, ThreadPoolExecutor(64) as pool:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        assert sum(pool.map(walk, [(parts.hostname, parts.port)] * 64)) == 64 * 20
    assert site.bodies == 64 * 20


def test_pipelined_requests_are_answered_in_order() -> None:
    site = Site()
    site.respond("/1", body="one", delay=0.05)
    site.respond("/2", body="two")
    with site.serve() as url, dial(url) as client:
        client.sendall(b"GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nConnection: close\r\n\r\n")
        wire = b"".join(iter(lambda: client.recv(65536), b""))
    assert wire.index(b"one") < wire.index(b"two")


def test_what_is_not_http_is_answered_400() -> None:
    site = Site()
    with site.serve() as url, dial(url) as client:
        client.sendall(b"hello\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
