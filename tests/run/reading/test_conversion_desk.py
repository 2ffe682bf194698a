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
from ultracrawl.content.service.job import Converted, Job
from ultracrawl.model import Conversion, UrlRecord
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


@pytest.mark.parametrize(
    ("media_type", "taken"),
    [("application/pdf", True), ("text/markdown", True), ("text/html", False), ("text/plain", False)],
)
def test_html_and_plain_text_never_go_to_a_converter(
    converter: DocumentConverter, media_type: str, taken: bool
) -> None:
    assert converter.takes(media_type) is taken
