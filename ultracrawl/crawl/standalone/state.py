"""The state of a spider without a definition: opened once for all components of its crawler, closed with the crawl.

A pipeline that drops what did not change uses it so, and neither opens nor closes anything::

    def from_crawler(cls, crawler):                      # without ULTRACRAWL_DATA: NotConfigured, which says so
        pipeline = cls(state_of(crawler))
        crawler.signals.connect(pipeline.item_scraped, signals.item_scraped)

    def process_item(self, item):
        if self._state.has_item(url, checksum):          # it came out of an earlier crawl as it is now
            self._state.note_item(url, checksum)         # and holds on
            raise DropItem("unchanged")

    def item_scraped(self, item):                        # all pipelines are through with it
        self._state.note_item(url, checksum)

What a crawl notes of items counts for the next one when it has come to its end: a killed one repeats them. A URL may
have several items. With `ULTRACRAWL_FORCE` no item counts as known.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from weakref import WeakKeyDictionary

from scrapy import signals

from ultracrawl.crawl.standalone.definition import open_with_spider, require_data_folder
from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.stores.sqlite.answers.spider_state import SpiderState

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.model.answer import StoredAnswer
    from ultracrawl.stores.sqlite.answers.spider_state import KnownAnswer

logger = logging.getLogger(__name__)


class CrawlerState:
    """The state of a spider for as long as its crawler runs.

    If it cannot be opened, the crawl ends before its first request. If it cannot be used later (a full disk), that is
    logged once, the crawl goes on as if nothing were known, and nothing of it counts for the next one.
    """

    def __init__(self, path: Path, spider: str, *, force: bool = False) -> None:
        """With `force` nothing counts as known."""
        self._path = path
        self._spider = spider
        self._force = force
        self._store: SpiderState | None = None

    def open(self) -> None:
        """Open the file. Raises `UserError`, `StateError`."""
        self._store = SpiderState(self._path, self._spider)
        if self._store.renewed:
            logger.warning("%s; every page is asked for in full", self._store.renewed)

    def close(self) -> None:
        """End the crawl, and release the file."""
        if self._store is not None:
            with self._telling():
                self._store.close()
            self._store = None

    def known_answer(self, key: bytes) -> KnownAnswer | None:
        """Return what is known of the answer for a request, by its fingerprint."""
        with self._telling():
            return None if self._store is None or self._force else self._store.known_answer(key)
        return None

    def read_answer(self, key: bytes) -> StoredAnswer | None:
        """Return a whole answer, None if none is kept."""
        with self._telling():
            return None if self._store is None else self._store.read_answer(key)
        return None

    def keep_answer(self, key: bytes, known: KnownAnswer, answer: StoredAnswer) -> None:
        """Keep an answer in place of an earlier one."""
        with self._telling():
            if self._store is not None:
                self._store.keep_answer(key, known, answer)

    def forget_answer(self, key: bytes) -> None:
        """Remove an answer, if one is kept."""
        with self._telling():
            if self._store is not None:
                self._store.forget_answer(key)

    def has_item(self, url: str, checksum: bytes) -> bool:
        """Return whether an item came out of an earlier crawl as it is now."""
        with self._telling():
            return self._store is not None and not self._force and self._store.has_item(url, checksum)
        return False

    def note_item(self, url: str, checksum: bytes) -> None:
        """Note that an item came out of this crawl, changed or not."""
        with self._telling():
            if self._store is not None:
                self._store.note_item(url, checksum)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except StateError as error:
            logger.error("%s; nothing more is remembered of this crawl", error)
            store, self._store = self._store, None
            if store is not None:
                store.abandon(damaged=isinstance(error, StateDamagedError))


_states: WeakKeyDictionary[Crawler, CrawlerState] = WeakKeyDictionary()


def state_of(crawler: Crawler) -> CrawlerState:
    """Return the state of the spider of a crawler, below `ULTRACRAWL_DATA`; one for all its components.

    Raises `NotConfigured` if no folder is named.
    """
    state = _states.get(crawler)
    if state is None:
        name = crawler.spidercls.name
        path = require_data_folder(crawler) / "spiders" / f"{quote(name, safe='')}.sqlite"
        force = crawler.settings.getbool("ULTRACRAWL_FORCE")
        state = _states[crawler] = CrawlerState(path, name, force=force)
        open_with_spider(crawler, state.open)
        crawler.signals.connect(state.close, signals.spider_closed)
    return state
