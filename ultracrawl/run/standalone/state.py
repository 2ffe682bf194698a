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
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple
from urllib.parse import quote
from weakref import WeakKeyDictionary

from scrapy import signals

from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.run.standalone.definition import open_with_spider, require_data_folder
from ultracrawl.stores.sqlite.answers.spider_state import KnownAnswer, SpiderState

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.model.answer import StoredAnswer

logger = logging.getLogger(__name__)

Given = TypeVarTuple("Given")
Result = TypeVar("Result")


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
        self._do(SpiderState.close)
        self._store = None

    def known_answer(self, key: bytes) -> KnownAnswer | None:
        """Return the validators of the stored response to a request, by its fingerprint."""
        return None if self._force else self._do(SpiderState.known_answer, key)

    def read_answer(self, key: bytes) -> StoredAnswer | None:
        """Return a stored response, None if there is none."""
        return self._do(SpiderState.read_answer, key)

    def keep_answer(self, key: bytes, known: KnownAnswer, answer: StoredAnswer) -> None:
        """Store a response in place of an earlier one."""
        self._do(SpiderState.keep_answer, key, known, answer)

    def forget_answer(self, key: bytes) -> None:
        """Delete a stored response, if there is one."""
        self._do(SpiderState.forget_answer, key)

    def has_item(self, url: str, checksum: bytes) -> bool:
        """Return whether an equal item came out of an earlier crawl."""
        return not self._force and bool(self._do(SpiderState.has_item, url, checksum))

    def note_item(self, url: str, checksum: bytes) -> None:
        """Note that an item came out of this crawl, changed or not."""
        self._do(SpiderState.note_item, url, checksum)

    def _do(self, method: Callable[[SpiderState, *Given], Result], *given: *Given) -> Result | None:
        """Call a method of the store; None if there is none, or if it fails, which is logged and ends its use."""
        if self._store is None:
            return None
        try:
            return method(self._store, *given)
        except StateError as error:
            logger.error("%s; no further state of this crawl is stored", error)
            store, self._store = self._store, None
            store.abandon(damaged=isinstance(error, StateDamagedError))
            return None


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
