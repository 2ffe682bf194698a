"""What is the curl handler's own: its loop, its place in Scrapy, its signals, what it says when it cannot run."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError, StopDownload

from ultracrawl.handlers import HTTP_HANDLER
from ultracrawl.handlers.curl.handler import CurlDownloadHandler
from ultracrawl.handlers.curl.transfer import ResponseHead
from ultracrawl.model import CauseCode, UrlOutcome
from ultracrawl.run.download_errors.kinds import AnswerMalformedError, failure_of

ROOT = Path(__file__).resolve().parents[2]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def two_parts(_: bytes) -> Iterator[bytes | float]:
    yield b"HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 8\r\n\r\npart"
    yield 0.2
    yield b"part"


@pytest.mark.parametrize(
    ("lines", "status", "headers"),
    [
        pytest.param(
            [b"HTTP/1.1 200 OK\r\n", b"a-b: 1\r\n", b"A-B:2\r\n", b"\r\n"],
            200,
            {b"A-B": [b"1", b"2"]},
            id="repeated",
        ),
        pytest.param(
            [b"HTTP/2 404 \r\n", b"x: 1\r\n", b" folded\r\n", b"\r\n"],
            404,
            {b"X": [b"1 folded"]},
            id="folded",
        ),
        pytest.param([b"HTTP/1.1 200\n", b" x\n", b"no colon\n", b"\n"], 200, {}, id="broken-lines"),
        pytest.param(
            [b"HTTP/1.1 103 E\r\n", b"L: 1\r\n", b"\r\n", b"HTTP/1.1 200 OK\r\n", b"\r\n"],
            200,
            {},
            id="interim",
        ),
        pytest.param([b"HTTP/1.1 200 OK\r\n", b"\r\n", b"Trailer: 1\r\n"], 200, {}, id="trailer"),
        pytest.param([b"HTTP/1.1 OK\r\n", b"\r\n"], 0, {}, id="no-status"),
        pytest.param([b"http/1.1 200 OK\r\n", b"\r\n"], 200, {}, id="lower-case"),
        pytest.param([b"HTTP/1.1\t200OK\r\n", b"\r\n"], 200, {}, id="glued-reason"),
    ],
)
def test_response_heads(lines: list[bytes], status: int, headers: dict[bytes, list[bytes]]) -> None:
    head = ResponseHead()
    for line in lines:
        head.feed(line)
    assert (head.complete, head.status, head.headers) == (True, status, headers)


def test_header_order_is_kept(client: Any, serve: Any) -> None:
    server = serve(OK)
    client.get(Request(server.url, headers={"X-Z": "1", "X-A": "2", "X-Empty": "", "X-M": "3"}))
    lines = [line.partition(b":")[0] for line in server.requests[0].split(b"\r\n")[1:-2]]
    assert lines == [b"Host", b"X-Z", b"X-A", b"X-Empty", b"X-M"]


def test_a_header_without_a_colon_is_skipped_or_named(client: Any, serve: Any) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok")
    try:
        said = client.get(server.url).text
    except DownloadFailedError as error:  # newer versions of libcurl
        said = str(error)
    assert said in {"ok", "Header without colon"}


@pytest.mark.parametrize(
    "head",
    [
        b"http/1.1 200 OK",
        b"HTTP/1.1 200OK",
        b"HTTP/1.1 200",
        b"HTTP/1.1\t200\tOK",
        b"HTTP/1.1 200 OK\nX: bare line feed",
        b"HTTP/1.1 200 OK\r\nX : blank before the colon",
        b"HTTP/1.1 200 OK\r\nX Y: blank in the name",
        b"HTTP/1.1 200 OK\r\n: no name",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2",
    ],
)
def test_a_head_that_browsers_forgive(client: Any, serve: Any, head: bytes) -> None:
    response = client.get(serve(head + b"\r\nContent-Length: 2\r\n\r\nok").url)
    assert (response.status, response.body) == (200, b"ok")


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="other-protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nok", id="length"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", id="two-lengths"
        ),
        pytest.param(b"HTTP/1.1 099 No\r\nContent-Length: 2\r\n\r\nok", id="status"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: %b\r\n\r\nok" % (b"x" * 400_000), id="large-head"),
    ],
)
def test_a_malformed_answer_is_named_and_asked_for_by_the_next_run(
    client: Any, serve: Any, raw: bytes
) -> None:
    with pytest.raises(AnswerMalformedError) as raised:
        client.get(serve(raw).url)
    known = failure_of(raised.value)
    assert (known.cause.code, known.outcome, known.retryable) == (
        CauseCode.ANSWER_MALFORMED,
        UrlOutcome.NETWORK_ERROR,
        False,
    )
    assert len(str(raised.value).splitlines()) == 1


def test_a_path_is_sent_as_it_is(client: Any, serve: Any) -> None:
    server = serve(OK)
    client.get(server.url + "a/../b/./c//d")
    assert server.requests[0].startswith(b"GET /a/../b/./c//d HTTP/1.1\r\n")


def test_a_cancelled_download_lets_go(client: Any, serve: Any, runner: Any) -> None:
    slow, good = serve(lambda _: iter([2.0])), serve(OK)
    handler = client.handler()

    async def cancel() -> None:
        task = asyncio.ensure_future(handler.download_request(Request(slow.url)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    runner.run(cancel())
    assert client.send(handler, Request(good.url))[0].body == b"ok"


def test_closing_ends_downloads(client: Any, serve: Any, runner: Any) -> None:
    server = serve(lambda _: iter([1.0]))
    handler = client.handler()

    async def close() -> None:
        task = asyncio.ensure_future(handler.download_request(Request(server.url)))
        await asyncio.sleep(0.1)
        await handler.close()
        with pytest.raises(asyncio.CancelledError):
            await task

    runner.run(close())


@pytest.mark.parametrize(
    ("signal", "fail", "body"),
    [
        pytest.param(signals.headers_received, False, b"", id="headers"),
        pytest.param(signals.bytes_received, False, b"part", id="bytes"),
        pytest.param(signals.bytes_received, True, b"part", id="bytes-fail"),
    ],
)
def test_a_receiver_may_stop_a_download(
    runner: Any, serve: Any, signal: object, fail: bool, body: bytes
) -> None:
    crawler = Crawler(Spider, {"DOWNLOAD_TIMEOUT": 5})
    seen: list[dict[str, Any]] = []

    def stop(**values: Any) -> None:
        seen.append(values)
        raise StopDownload(fail=fail)

    async def fetch() -> Any:
        handler = CurlDownloadHandler(crawler)
        crawler.signals.connect(stop, signal)
        try:
            return await handler.download_request(Request(serve(two_parts).url))
        except StopDownload as stopped:
            return stopped.response
        finally:
            await handler.close()

    response = runner.run(fetch())
    assert (response.body, response.flags) == (body, ["download_stopped"])
    assert len(seen) == 1


CRAWL = """
import json, sys
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

class Probe(Spider):
    name = "probe"
    seen = []
    custom_settings = {
        "DOWNLOAD_HANDLERS": {"http": sys.argv[2], "https": sys.argv[2]},
        "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False,
        "REDIRECT_ENABLED": False, "RETRY_ENABLED": False, "DOWNLOAD_MAXSIZE": 100,
    }

    async def start(self):
        for path in ("page", "moved", "large"):
            yield Request(sys.argv[1] + path, errback=self.failed, meta={"handle_httpstatus_all": True})

    def parse(self, response):
        self.seen.append([response.url.rsplit("/", 1)[1], response.status, response.text])

    def failed(self, failure):
        self.seen.append([failure.request.url.rsplit("/", 1)[1], 0, failure.type.__name__])

process = AsyncCrawlerProcess()
process.crawl(Probe)
process.start()
print(json.dumps(sorted(Probe.seen)))
"""


def test_a_crawl_with_the_handler(serve: Any) -> None:
    def answer(raw: bytes) -> Iterator[bytes | float]:
        path = raw.split()[1]
        if path == b"/moved":
            yield b"HTTP/1.1 301 Moved\r\nLocation: /page\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"
        else:
            size = 1000 if path == b"/large" else 3
            yield (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % size
                + b"x" * size
            )

    server = serve(answer, keep=True)
    command = [sys.executable, "-W", "error", "-c", CRAWL, server.url, HTTP_HANDLER]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == [
        ["large", 0, "DownloadCancelledError"],
        ["moved", 301, ""],
        ["page", 200, "xxx"],
    ]


MISSING = """
import sys
sys.modules["pycurl"] = None
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.reactor import install_reactor
from ultracrawl.handlers.curl.handler import CurlDownloadHandler
install_reactor(sys.argv[1])
try:
    CurlDownloadHandler(Crawler(Spider))
except NotConfigured as reason:
    print(reason)
"""


@pytest.mark.parametrize(
    ("reactor", "reason"),
    [
        pytest.param(
            "asyncioreactor.AsyncioSelectorReactor", "pip install --force-reinstall pycurl", id="no-pycurl"
        ),
        pytest.param("selectreactor.SelectReactor", "needs asyncio", id="no-asyncio"),
    ],
)
def test_a_handler_that_cannot_run_says_why(reactor: str, reason: str) -> None:
    command = [sys.executable, "-c", MISSING, f"twisted.internet.{reactor}"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert reason in ended.stdout
