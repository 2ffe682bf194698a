"""Between crawl and conversion processes: how much may wait."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.context import made_context

from ultracrawl.content.reader import PageHeaders, PageReader
from ultracrawl.content.service.job import Converted, Job, NotConverted
from ultracrawl.model import Conversion, StatusCode, UrlRecord
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.results import FetchResult
from ultracrawl.run.visit import Visit
from ultracrawl.sources import DataSource
from ultracrawl.stores import QueueEntry


class Waiting:
    """A pool that answers when it is told to."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, job: Job) -> Future[Any]:
        self.futures.append(Future())
        return self.futures[-1]


@pytest.fixture
def converter() -> DocumentConverter:
    source = DataSource(name="s", start_urls=["http://h.example/"])
    rules = SimpleNamespace(converted=source.conversion.types, reader_of=lambda url: PageReader())
    context = made_context(source, rules=rules, queue=SimpleNamespace(release=lambda visit: None))
    return DocumentConverter(context, lambda visit, failure: None, lambda visit, step: nullcontext())


@pytest.mark.parametrize(
    ("count", "size", "congested"),
    [(1, 1 << 20, False), (5, 30 << 20, True), (500, 10, False), (2200, 10, True)],
    ids=["one", "large ones", "some small ones", "many small ones"],
)
def test_the_crawl_waits_when_too_much_waits(
    converter: DocumentConverter, count: int, size: int, congested: bool
) -> None:
    pool = Waiting()
    converter._pool = cast(Any, pool)
    entry, record = QueueEntry(1, "http://h.example/", "h.example", 0, 1), UrlRecord("http://h.example/", "s")
    visit = Visit(entry, record, fetch=FetchResult(media_type="application/pdf"))

    async def run() -> None:
        tasks = [
            asyncio.ensure_future(converter.page(visit, bytes(size), PageHeaders())) for _ in range(count)
        ]
        await asyncio.sleep(0)
        assert converter.congested is congested
        for future in pool.futures:
            future.set_result(Converted(Conversion(text="words")))
        pages = await asyncio.gather(*tasks)
        assert {page.text for page in pages if page} == {"words"}
        assert not converter.congested

    asyncio.run(run())


FAILED = StatusCode.CONVERTER_MISSING
PARTIAL = Conversion(text="the first words")


@pytest.mark.parametrize(
    ("may_pass", "is_first", "text"),
    [(True, True, None), (True, False, "the first words"), (False, True, "the first words")],
    ids=["first", "second", "used up its time"],
)
@pytest.mark.parametrize("way", ["page", "page_or_none"])
def test_a_part_of_a_document_is_taken_only_after_the_second_attempt(
    converter: DocumentConverter, way: str, may_pass: bool, is_first: bool, text: str | None
) -> None:
    aside: list[Visit] = []
    queue = SimpleNamespace(
        release=lambda _: None, set_aside=lambda one, _: is_first and not aside.append(one)
    )
    converter._context.ports.queue = cast(Any, queue)
    pool = Waiting()
    converter._pool = cast(Any, pool)
    record = UrlRecord("http://h.example/", "s")
    visit = Visit(QueueEntry(1, record.url, "h.example", 0, 1), record)

    async def run() -> Any:
        task = asyncio.ensure_future(getattr(converter, way)(visit, b"body", PageHeaders()))
        await asyncio.sleep(0)
        pool.futures[0].set_result(NotConverted(FAILED, "too slow", PARTIAL, may_pass))
        return await task

    page = asyncio.run(run())
    assert (page and page.text, aside) == (text, [visit] if may_pass and is_first else [])


@pytest.mark.parametrize(
    ("media_type", "taken"),
    [("application/pdf", True), ("text/markdown", True), ("text/html", False), ("text/plain", False)],
)
def test_html_and_plain_text_never_go_to_a_converter(
    converter: DocumentConverter, media_type: str, taken: bool
) -> None:
    assert converter.takes(media_type) is taken
