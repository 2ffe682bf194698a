"""What a response becomes by its kind, and what an exception in user code ends: one visit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import signals
from scrapy.exceptions import CloseSpider
from support.handled import URL, HandledSource

from ultracrawl.model import CauseCode, Page, StatusCode
from ultracrawl.spiders.source import SourceSpider

HTML = b"<html><title>T</title><p>words <a href=x>x</a></html>"


def visited(source: HandledSource, body: bytes = HTML, **fetched: Any) -> list[Any]:
    """Return what the spider yields for a response, read here or in another process."""
    _, response = source.answered(body, **fetched)
    return asyncio.run(_listed(source, response))


async def _listed(source: HandledSource, response: Any) -> list[Any]:
    items = source.spider.visit(response)
    return [item async for item in items] if isinstance(items, AsyncIterator) else list(items)


def test_a_page_is_parsed_and_handled() -> None:
    source = HandledSource()
    (document,) = visited(source)
    assert (document.title, document.mimetype) == ("T", "text/html")
    assert source.followed == [(["x"], URL)]


def test_the_lines_of_a_listing_are_followed_and_not_indexed() -> None:
    source = HandledSource()
    assert visited(source, b"http://h.example/a\nhttp://h.example/b\n", listing=True) == []
    assert source.followed == [(["http://h.example/a", "http://h.example/b"], URL)]
    ((ending),) = source.ended
    assert (ending.cause.code, ending.cause.subject) == (CauseCode.DIRECTORY, "2")


def test_a_type_without_a_converter_ends_its_visit() -> None:
    source = HandledSource()
    assert visited(source, b"\x00\x01", media_type="application/x-unknown") == []
    ((ending),) = source.ended
    assert (ending.cause.code, ending.status) == (CauseCode.NO_CONVERTER, StatusCode.CONVERTER_MISSING)


@pytest.mark.parametrize("page", [Page(title="of a file"), None], ids=["converted", "ended by the converter"])
def test_what_a_converter_takes_is_converted_elsewhere(page: Page | None) -> None:
    source = HandledSource()

    async def convert(*_: object) -> Page | None:
        return page

    source.converter.takes = lambda media_type: media_type == "application/pdf"
    source.converter.page = convert
    found = visited(source, b"%PDF", media_type="application/pdf")
    assert [document.title for document in found] == (["of a file"] if page else [])


def test_a_response_that_is_handled_again_or_retried_gives_nothing() -> None:
    source = HandledSource()
    _, response = source.answered(HTML)
    assert list(source.spider.visit(response.replace(status=503))) == [], "it will be retried"  # type: ignore[call-overload]
    assert source.spider.visit(response.replace(request=None)) == (), "a request of foreign code"
    assert len(visited(source)) == 1


# ---- exceptions


class Failing(SourceSpider):
    """Raises in the middle of the documents of a page whose text says so."""

    error: BaseException = ValueError("bad")

    def documents(self, response: Any, page: Page) -> Any:
        if "bad" in page.text:
            raise self.error
        return [{}]


class Leaving(BaseException):
    """An exception that code of users should not raise."""


@pytest.mark.parametrize("error", [ValueError("bad"), Leaving()], ids=["Exception", "BaseException"])
def test_an_exception_is_counted_and_reported_and_ends_no_other_visit(error: BaseException) -> None:
    class Raising(Failing):
        pass

    Raising.error = error
    source = HandledSource(Raising)
    told: list[Any] = []

    def hear(failure: Any, response: Any) -> None:
        told.append((failure.value, response.url))

    source.signals.connect(hear, signals.spider_error)
    assert visited(source, b"<p>bad</p>") == []
    assert told == [(error, URL)]
    assert source.stats.get_value("spider_exceptions/count") == 1
    assert source.stats.get_value(f"spider_exceptions/{type(error).__name__}") == 1
    assert len(visited(source, b"<p>good</p>")) == 1


@pytest.mark.parametrize("error", [CloseSpider("enough"), KeyboardInterrupt()], ids=["CloseSpider", "Ctrl-C"])
def test_what_ends_the_crawl_is_passed_on(error: BaseException) -> None:
    class Raising(Failing):
        pass

    Raising.error = error
    source = HandledSource(Raising)
    with pytest.raises(type(error)):
        visited(source, b"<p>bad</p>")
    assert source.retried == ([error] if isinstance(error, CloseSpider) else []), (
        "the visit of CloseSpider ends"
    )
    assert source.stats.get_value("spider_exceptions/count") is None


def test_a_converter_that_raises_ends_its_visit_only() -> None:
    source = HandledSource()
    told: list[Any] = []

    async def convert(*_: object) -> Page:
        raise OSError

    def hear(failure: Any) -> None:
        told.append(type(failure.value))

    source.signals.connect(hear, signals.spider_error)
    source.converter.takes = lambda media_type: media_type == "application/pdf"
    source.converter.page = convert
    assert visited(source, b"%PDF", media_type="application/pdf") == []
    assert told == [OSError]


def test_a_failed_download_is_left_to_the_retry_policy() -> None:
    source = HandledSource()
    _, response = source.answered()
    error = OSError()
    failure: Any = SimpleNamespace(request=response.request, value=error)
    source.spider.failed(failure)
    failure.request = response.request.replace(meta={})
    source.spider.failed(failure)
    assert source.retried == [error], "a request of foreign code is no visit"
