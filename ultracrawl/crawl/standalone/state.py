"""The persistent state of a spider without a definition, shared by all components of its crawler.

It is opened and closed with the crawl. A pipeline that drops unchanged items uses it like this::

    def from_crawler(cls, crawler):                      # raises NotConfigured without ULTRACRAWL_DATA
        pipeline = cls(state_of(crawler))
        crawler.signals.connect(pipeline.item_scraped, signals.item_scraped)

    def process_item(self, item):
        if self._state.has_item(url, checksum):          # an equal item came out of an earlier crawl
            self._state.note_item(url, checksum)         # keeps it known
            raise DropItem("unchanged")

    def item_scraped(self, item):                        # it has passed all pipelines
        self._state.note_item(url, checksum)

The items of a crawl are known to the next one only if it finished: after a killed crawl they are repeated. A URL may
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
from ultracrawl.stores.sqlite.answers.spider_state import KnownAnswer, SpiderState

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.model.answer import StoredAnswer

logger = logging.getLogger(__name__)


class CrawlerState:
    """The persistent state of a spider, open while its crawler runs.

    If it cannot be opened, the crawl ends before its first request. If it fails later (a full disk), that is logged
    once, the crawl goes on as if nothing were known, and nothing of it counts for the next one.
    """

    def __init__(self, path: Path, spider: str, *, force: bool = False) -> None:
        """Initialise; with `force` nothing counts as known."""
        self._path = path
        self._spider = spider
        self._force = force
        self._store: SpiderState | None = None

    def open(self) -> None:
        """Open the file. Raises `UserError`, `StateError`."""
        self._store = SpiderState(self._path, self._spider)
        if self._store.renewed:
            logger.warning("%s; every page is fetched in full", self._store.renewed)

    def close(self) -> None:
        """End the crawl, and close the file."""
        if self._store is not None:
            with self._logged_errors():
                self._store.close()
            self._store = None

    def known_answer(self, key: bytes) -> KnownAnswer | None:
        """Return the validators of the stored response to a request, by its fingerprint."""
        with self._logged_errors():
            return None if self._store is None or self._force else self._store.known_answer(key)
        return None

    def read_answer(self, key: bytes) -> StoredAnswer | None:
        """Return a stored response, None if there is none."""
        with self._logged_errors():
            return None if self._store is None else self._store.read_answer(key)
        return None

    def keep_answer(self, key: bytes, known: KnownAnswer, answer: StoredAnswer) -> None:
        """Store a response in place of an earlier one."""
        with self._logged_errors():
            if self._store is not None:
                self._store.keep_answer(key, known, answer)

    def forget_answer(self, key: bytes) -> None:
        """Delete a stored response, if there is one."""
        with self._logged_errors():
            if self._store is not None:
                self._store.forget_answer(key)

    def has_item(self, url: str, checksum: bytes) -> bool:
        """Return whether an equal item came out of an earlier crawl."""
        with self._logged_errors():
            return self._store is not None and not self._force and self._store.has_item(url, checksum)
        return False

    def note_item(self, url: str, checksum: bytes) -> None:
        """Note that an item came out of this crawl, changed or not."""
        with self._logged_errors():
            if self._store is not None:
                self._store.note_item(url, checksum)

    @contextmanager
    def _logged_errors(self) -> Iterator[None]:
        try:
            yield
        except StateError as error:
            logger.error("%s; no further state of this crawl is stored", error)
            store, self._store = self._store, None
            if store is not None:
                store.abandon(damaged=isinstance(error, StateDamagedError))


_states: WeakKeyDictionary[Crawler, CrawlerState] = WeakKeyDictionary()


def state_of(crawler: Crawler) -> CrawlerState:
    """Return the state of a crawler's spider, below `ULTRACRAWL_DATA`; shared by all its components.

    Raises `NotConfigured` if no folder is set.
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
