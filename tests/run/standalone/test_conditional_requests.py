"""Conditional requests of spiders without a definition: what is asked, what is kept, and for whom it counts."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run.standalone.chain import Chain, page
from scrapy import Request, signals
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK
from support.sentences import sentence

from ultracrawl.run.standalone.state import state_of

URL = "http://h.example/page"
DATE = "Mon, 01 Jan 2024 00:00:00 GMT"
CONDITIONS = ("If-None-Match", "If-Modified-Since")


def server(**headers: str) -> Callable[[Request], Response]:
    """Return a server whose page has validators, and that knows it again."""
    headers = {"ETag": '"1"', "Last_Modified": DATE, **headers}

    def answer(request: Request) -> Response:
        if any(name in request.headers for name in CONDITIONS):
            return page(request, "", 304, ETag='"1"', Expires="later", Set_Cookie="fresh=1")
        return page(request, **{name: value for name, value in headers.items() if value})

    return answer


def crawl(
    data: Path, request: Request | str = URL, answer: Any = None, **settings: Any
) -> tuple[Response | None, Chain]:
    chain = Chain(answer or server(), "ConditionalMiddleware", data=data, **settings)
    (found,) = chain.crawl(request if isinstance(request, str) else request.copy())
    return found, chain


def sent(chain: Chain, number: int = 0) -> dict[str, bytes | None]:
    return {name: value for name in CONDITIONS if (value := chain.asked[number].headers.get(name))}


def second(
    data: Path, request: Request | str = URL, answer: Any = None, **settings: Any
) -> dict[str, bytes | None]:
    """Return the conditions of the second of two crawls that are alike."""
    crawl(data, request, answer, **settings)
    return sent(crawl(data, request, answer, **settings)[1])


@pytest.mark.parametrize("number", [540, 595, 950])
def test_it_works_at_other_numbers_too(tmp_path: Path, number: int) -> None:
    settings = {"DOWNLOADER_MIDDLEWARES": {"ultracrawl.middlewares.ConditionalMiddleware": number}}
    answer = server(Vary="Accept-Encoding, User-Agent")
    crawl(tmp_path, answer=answer, **settings)
    again, chain = crawl(tmp_path, answer=answer, **settings)
    assert len(sent(chain)) == 2
    assert again is not None
    assert again.flags == ["not-modified"]


@pytest.mark.parametrize("flag", ["dataloss", "partial", "cached", "download_stopped"])
def test_what_is_not_whole_is_not_kept(tmp_path: Path, flag: str) -> None:
    crawl(tmp_path, answer=lambda request: server()(request).replace(flags=[flag]))
    assert sent(crawl(tmp_path)[1]) == {}


def test_what_did_not_change_comes_again_with_a_flag(tmp_path: Path) -> None:
    first, chain = crawl(tmp_path)
    assert sent(chain) == {}
    assert first is not None
    assert first.flags == []
    again, chain = crawl(tmp_path)
    assert sent(chain) == {"If-None-Match": b'"1"', "If-Modified-Since": DATE.encode()}
    assert isinstance(again, HtmlResponse)
    assert (again.status, again.flags, again.url) == (200, ["not-modified"], URL)
    assert again.body == first.body
    assert (again.headers["Expires"], again.headers["Last-Modified"]) == (b"later", DATE.encode())
    assert chain.stats["ultracrawl/not_modified"] == 1
    assert CONDITIONS[0] not in again.headers


def test_a_page_that_changed_takes_the_place_of_the_kept_one(tmp_path: Path) -> None:
    crawl(tmp_path)
    changed = crawl(tmp_path, answer=lambda request: page(request, "new", ETag='"2"'))[0]
    assert changed is not None
    assert (changed.body, changed.flags) == (b"new", [])
    answer, chain = crawl(tmp_path, answer=lambda request: page(request, "", 304))
    assert sent(chain) == {"If-None-Match": b'"2"'}
    assert answer is not None
    assert answer.body == b"new"


def test_a_compressed_page_is_decoded_each_time(tmp_path: Path) -> None:
    def answer(request: Request) -> Response:
        if CONDITIONS[0] in request.headers:
            return page(request, "", 304)
        body = gzip.compress(b"<a href=/next>words</a>")
        return Response(
            request.url, 200, {"Content-Encoding": "gzip", "Content-Type": "text/html", "ETag": "1"}, body
        )

    first, again = crawl(tmp_path, answer=answer)[0], crawl(tmp_path, answer=answer)[0]
    assert isinstance(first, HtmlResponse)
    assert isinstance(again, HtmlResponse)
    assert again.flags[:1] == ["not-modified"]
    assert first.css("a::attr(href)").getall() == again.css("a::attr(href)").getall() == ["/next"]


@pytest.mark.parametrize("wish", ["replay", "drop"])
def test_what_is_not_for_the_spider_is_never_dropped(tmp_path: Path, wish: str) -> None:
    crawl(tmp_path)
    dropped, _ = crawl(tmp_path, ULTRACRAWL_NOT_MODIFIED=wish)
    assert (dropped is None) is (wish == "drop")
    kept, _ = crawl(tmp_path, Request(URL, callback=NO_CALLBACK), ULTRACRAWL_NOT_MODIFIED=wish)
    assert kept is not None


@pytest.mark.parametrize(
    "request_",
    [
        Request(URL, method="HEAD"),
        Request(URL, method="POST", body="a=1"),
        Request(URL, body="a=1"),
        Request(URL, headers={"Authorization": "Basic c2VjcmV0"}),
        Request("http://user:secret@h.example/page"),
        Request(URL, headers={"Range": "bytes=0-9"}),
        Request(URL, meta={"dont_cache": True}),
    ],
)
def test_requests_that_are_not_plain_are_left_alone(tmp_path: Path, request_: Request) -> None:
    assert second(tmp_path, request_) == {}
    state = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"secret" not in state
    assert b"words" not in state


def test_conditions_of_the_spider_itself_are_its_own(tmp_path: Path) -> None:
    crawl(tmp_path)
    answer, chain = crawl(tmp_path, Request(URL, headers={"If-None-Match": '"mine"'}))
    assert sent(chain) == {"If-None-Match": b'"mine"'}
    assert answer is not None
    assert answer.status == 304


@pytest.mark.parametrize(
    ("headers", "asked"),
    [
        ({"Cache_Control": "max-age=0, No-Store"}, False),
        ({"Vary": "*"}, False),
        ({"Vary": "Accept-Language"}, True),
        ({"Cache_Control": "private"}, True),
        ({"ETag": "", "Last_Modified": ""}, False),
        ({"ETag": ""}, True),
        ({"ETag": '"\x01"', "Last_Modified": ""}, False),
    ],
)
def test_what_the_answer_says_of_being_kept(tmp_path: Path, headers: dict[str, str], asked: bool) -> None:
    assert bool(second(tmp_path, answer=server(**headers))) is asked


def test_an_answer_counts_for_requests_that_send_what_it_varies_by(tmp_path: Path) -> None:
    def asked(language: str) -> bool:
        request = Request(URL, headers={"Accept-Language": language})
        return bool(sent(crawl(tmp_path, request, server(Vary="Accept-Language"))[1]))

    assert [asked("de"), asked("de"), asked("fr"), asked("fr")] == [False, True, False, True]


@pytest.mark.parametrize(
    ("headers", "asked"),
    [
        ({}, {"If-None-Match": b'"1"'}),
        ({"ETag": ""}, {}),
        ({"Cache_Control": "private"}, {}),
        ({"Vary": "Cookie"}, {}),
    ],
)
def test_with_cookies_a_tag_is_asked_for_and_never_a_date(
    tmp_path: Path, headers: dict[str, str], asked: dict[str, bytes]
) -> None:
    assert second(tmp_path, Request(URL, cookies={"session": "secret"}), server(**headers)) == asked
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_page_seen_without_cookies_is_asked_for_by_its_tag_once_there_are_some(tmp_path: Path) -> None:
    crawl(tmp_path)
    assert sent(crawl(tmp_path, Request(URL, cookies={"a": "b"}))[1]) == {"If-None-Match": b'"1"'}


def test_cookies_that_a_page_sets_are_not_kept(tmp_path: Path) -> None:
    crawl(tmp_path, answer=server(Set_Cookie="session=secret"))
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    again, _ = crawl(tmp_path)
    assert again is not None
    assert again.headers.getlist("Set-Cookie") == [b"fresh=1"]


def test_conditions_are_for_one_url_and_do_not_follow_a_redirect(tmp_path: Path) -> None:
    crawl(tmp_path)

    def moved(request: Request) -> Response:
        return page(request, "", 302, Location="/other") if request.url == URL else page(request, "other")

    answer, chain = crawl(tmp_path, answer=moved)
    assert answer is not None
    assert answer.body == b"other"
    assert [bool(sent(chain, number)) for number in (0, 1)] == [True, False]


def test_another_attempt_asks_in_the_same_way(tmp_path: Path) -> None:
    crawl(tmp_path)
    failures: list[object] = [503, DownloadTimeoutError("slow")]

    def shaky(request: Request) -> Response:
        if failures:
            failure = failures.pop()
            if isinstance(failure, Exception):
                raise failure
            return page(request, "", 503)
        return server()(request)

    answer, chain = crawl(tmp_path, answer=shaky)
    assert answer is not None
    assert answer.flags == ["not-modified"]
    assert [len(sent(chain, number)) for number in range(3)] == [2, 2, 2]


@pytest.mark.parametrize(("policy", "requests"), [("DummyPolicy", 1), ("RFC2616Policy", 2)])
def test_scrapys_cache_works_beside_it(tmp_path: Path, policy: str, requests: int) -> None:
    cache = {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(tmp_path / "cache"),
        "HTTPCACHE_POLICY": f"scrapy.extensions.httpcache.{policy}",
    }
    first, chain = crawl(tmp_path, answer=server(Cache_Control="max-age=0"), **cache)
    again, later = crawl(tmp_path, **cache)
    assert len(chain.asked) + len(later.asked) == requests
    assert first is not None
    assert again is not None
    assert (again.status, again.body, again.flags) == (200, first.body, ["cached"])


def test_a_request_that_failed_may_be_made_anew_for_another_url(tmp_path: Path) -> None:
    crawl(tmp_path)

    def silent(request: Request) -> Response:
        raise DownloadTimeoutError("slow")

    failing = Chain(silent, "ConditionalMiddleware", data=tmp_path, RETRY_ENABLED=False)
    with pytest.raises(DownloadTimeoutError):
        failing.crawl(request := Request(URL))
    state_of(failing.crawler).close()
    assert "If-None-Match" in request.headers
    assert sent(crawl(tmp_path, request.replace(url="http://h.example/other"))[1]) == {}


def test_a_page_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    crawl(tmp_path)
    crawl(tmp_path, answer=lambda request: page(request, "", 404))
    assert sent(crawl(tmp_path)[1]) == {}


def test_force_asks_for_every_page_in_full(tmp_path: Path) -> None:
    crawl(tmp_path)
    assert sent(crawl(tmp_path, ULTRACRAWL_FORCE=True)[1]) == {}


def test_a_page_is_dropped_only_if_the_crawl_that_saw_it_ended(tmp_path: Path) -> None:
    killed = Chain(server(), "ConditionalMiddleware", data=tmp_path)
    killed.crawler.signals.send_catch_log_async = _without_closing(killed)  # type: ignore[method-assign]
    killed.crawl(URL)
    assert sent(crawl(tmp_path, ULTRACRAWL_NOT_MODIFIED="drop")[1]) == {}
    assert sent(crawl(tmp_path, ULTRACRAWL_NOT_MODIFIED="drop")[1]) != {}


def _without_closing(chain: Chain) -> Any:
    send = chain.crawler.signals.send_catch_log_async

    async def killed(signal: object, **told: Any) -> Any:
        if signal is signals.spider_closed:
            store = state_of(chain.crawler)._store
            assert store is not None
            store.flush()
            store.abandon()
            return []
        return await send(signal, **told)

    return killed


def test_it_says_what_is_missing_and_what_is_wrong(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        Chain(server(), "ConditionalMiddleware").crawl(URL)
        Chain(server(), "ConditionalMiddleware", data=tmp_path, ULTRACRAWL_NOT_MODIFIED="reply").crawl(URL)
    told = [record.getMessage() for record in caplog.records]
    assert any(sentence("settings.no_data_folder") in line for line in told)
    assert sentence("settings.unknown_not_modified") in told
