"""Writes items to the index of a Scrapy project, for spiders without a definition."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import create_looping_call, sleep

from ultracrawl.errors import IndexStoreError, WorkError
from ultracrawl.index.project_index import index_config, open_index
from ultracrawl.index.repair import repair_and_count
from ultracrawl.index.writing.project_outputs import cache_folder
from ultracrawl.run.writing.finishing import INDEX_TIMEOUT, finish_writing
from ultracrawl.run.writing.source_writer import open_writer
from ultracrawl.run.writing.writer import IndexWriter
from ultracrawl.stores import SqliteStore
from ultracrawl.stores.sqlite.database import MEMORY, lock_file
from ultracrawl.system.files import convert_write_errors

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

POLL_INTERVAL = 0.3
"""Seconds between checks of the documents that wait."""


class PlainWriter(IndexWriter):
    """Keeps the documents that a killed crawl left: there is no document table that should know them."""

    def adopt_documents(self, documents: Mapping[int, str]) -> None:
        """Do nothing: the documents are indexed as they are."""


class PlainIndex:
    """Writes documents to the index that the settings name, through the durable cache of the spider.

    There is no document table; the index itself is asked for its documents.
    """

    writer: IndexWriter
    """Writes documents; set by `open`."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._releasing = ExitStack()

    def open(self) -> None:
        """Open index and cache, and hand over what a killed crawl left. Raises `UserError`, `WorkError`."""
        context, project, source = self._context, self._context.project, self._context.source
        cache = cache_folder(project, source.name)
        for folder in (cache, project.index.path):
            with convert_write_errors(folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only one process at a time may own the cache of a spider.
        self._releasing.callback(lock_file(cache, source.name, is_spider=True).close)
        context.ports.store = SqliteStore(MEMORY, source.name)
        self._releasing.callback(context.store.close)
        self.writer = open_writer(
            project, source, context.store, context.counters, crawling=True, kind=PlainWriter
        )
        self._releasing.callback(self.writer.close, timeout=10.0)
        waiting = self.writer.recover()
        if self._indexed_before() == 0 and not waiting:
            context.run.force = True  # items of earlier crawls are in no index
        ticking = create_looping_call(self._write_waiting)
        ticking.start(POLL_INTERVAL, now=False)
        self._releasing.callback(ticking.stop)

    def _indexed_before(self) -> int | None:
        """Return how many documents of the spider the index has, None if it cannot be read; damage is repaired."""
        project, messages = self._context.project, list[str]()
        with closing(open_index(project)) as index:
            try:
                return repair_and_count(
                    index, index_config(project), self._context.source.name, messages, messages
                )
            except IndexStoreError as error:
                messages.append(str(error))
                return None
            finally:
                for line in messages:
                    logger.warning("%s", line)

    def add(self, key: int, document: IndexDocument) -> None:
        """Add a document to the durable cache; if it is full, the crawl ends. Raises `IndexStoreError`."""
        try:
            self.writer.add(key, document)
        except WorkError as error:
            self._context.run.fail(str(error))
            raise

    @property
    def congested(self) -> bool:
        """Whether items have to wait for the index."""
        return self.writer.congested and not self._context.run.failed

    async def wait(self) -> None:
        """Wait until the index has caught up."""
        while self.congested:
            await sleep(POLL_INTERVAL)

    def sync(self) -> None:
        """Make the cache durable, so that its items may be recorded as known."""
        if "writer" in vars(self):
            self.writer.sync()

    def _write_waiting(self) -> None:
        try:
            self.writer.sync()
            self.writer.tick()
        except WorkError as error:
            self._context.run.fail(str(error))

    async def close(self) -> None:
        """Wait until everything is indexed; the rest is handed over by the next crawl."""
        run = self._context.run
        try:
            with self._releasing:
                if "writer" in vars(self) and not run.failed:
                    problem = await finish_writing(self.writer, self.writer.sync, INDEX_TIMEOUT)
                    if problem:
                        run.note_problem(problem)
        except WorkError as error:
            run.note_problem(error)
