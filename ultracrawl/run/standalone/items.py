"""Items of a spider without a definition: comparison with earlier crawls, and indexing."""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary, ref

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.utils.asyncio import sleep
from scrapy.utils.defer import deferred_from_coro

from ultracrawl.errors import IndexStoreError
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.rules.urls.shown import harmless
from ultracrawl.run.context import CrawlContext
from ultracrawl.run.crawl_run import CrawlRun
from ultracrawl.run.hooks import Hooks
from ultracrawl.run.ports import DocumentPort, Placed
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.standalone.definition import (
    definition_of,
    losses_of,
    open_with_spider,
    require_data_folder,
)
from ultracrawl.run.standalone.plain_index import POLL_INTERVAL, PlainIndex
from ultracrawl.run.standalone.state import CrawlerState, state_of
from ultracrawl.run.visit import Visit
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.index import IndexDocument
    from ultracrawl.run.ending import Ending
    from ultracrawl.run.recorder import Recorder

logger = logging.getLogger(__name__)

CLOSE_TIMEOUT = 10.0
"""Seconds after which the spider is closed even if items are in progress."""
MAX_IN_FLIGHT = 2000
"""Limit of items that are tracked at a time."""
STATS_PREFIX = "ultracrawl/items"
"""Prefix of the names of the statistics."""
_CHECKSUM = re.compile("[0-9a-f]{64}")


class PlainItems:
    """The context of item pipelines without a source: each item is a visit that needs no request.

    A checksum counts as known in the next crawl after its item has passed all pipelines, including those of the user.
    Documents of the index pipeline are stored in the durable cache at once and indexed while the crawl goes on; those
    that a killed crawl left there are handed over first by the next one.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Initialise for one crawl; opens nothing before the spider is opened. Raises `NotConfigured`."""
        require_data_folder(crawler)
        definition = definition_of(crawler)
        # Weak: the items are kept in a map by crawler, and must not keep their crawler alive.
        self._crawler = ref(crawler)
        run = CrawlRun(self._close_soon, force=crawler.settings.getbool("ULTRACRAWL_FORCE"), replay=False)
        run.counters = RunCounters(definition.source.name)
        self.context = CrawlContext(
            definition.project, definition.source, definition.rules, time.time, run, Hooks()
        )
        self.context.ports.documents = cast("DocumentPort", self)
        self.context.ports.endings = cast("Recorder", self)
        self._state: CrawlerState | None = None
        self._in_flight: dict[int, tuple[Any, Visit]] = {}
        """Items and their visits, by the identity of the item."""
        self._without_url = self._unchanged = 0
        self.index = PlainIndex(self.context)
        for handler, signal in (
            (self._scraped, signals.item_scraped),
            (self._dropped, signals.item_dropped),
            (self._failed, signals.item_error),
            (self._close, signals.spider_closed),
        ):
            crawler.signals.connect(handler, signal)

    # ---- set-up by pipelines

    def compare_items(self, crawler: Crawler) -> None:
        """Enable the comparison with items of earlier crawls. Raises `NotConfigured`."""
        self._state = state_of(crawler)

    def write_index(self, crawler: Crawler) -> None:
        """Enable writing to the index that the settings name."""
        open_with_spider(crawler, self.index.open)
        for loss in losses_of(crawler, self.context.project):
            logger.warning("%s: %s", self.context.source.name, loss)

    # ---- queries of pipelines

    def visit_of(self, item: Any) -> Visit | None:
        """Return the visit of an item; None if it has no `url`."""
        url = ItemAdapter(item).get("url")
        if not isinstance(url, str) or not url.strip():
            return None
        known = self._in_flight.get(id(item))
        if known is not None:
            return known[1]
        url = url.strip()
        entry = QueueEntry(url_key(url), url, "", 0, 0)
        visit = Visit(entry, UrlRecord(url, self.context.source.name), without_request=True)
        self._in_flight[id(item)] = item, visit
        if len(self._in_flight) > MAX_IN_FLIGHT:  # for items that a pipeline replaced, no signal comes
            del self._in_flight[next(iter(self._in_flight))]
        return visit

    def is_known(self, visit: Visit, checksum: bytes) -> bool:
        """Return whether an equal item came out of an earlier crawl."""
        return self._state is not None and self._state.has_item(visit.url, checksum)

    # ---- the ports `documents` and `endings`

    def propose(self, visit: Visit, document: IndexDocument) -> Placed:
        """Add a document to the durable cache. Raises `DropItem` if that cannot be written, which ends the crawl.

        The same for a URL that would run a script as a link.
        """
        if harmless(document.url) != document.url:
            raise DropItem(f"{document.url!r} is no URL that hits can link to", log_level="WARNING")
        try:
            if not self.context.run.failed:
                self.index.add(visit.entry.key, document)
                return Placed(visit.url, UrlOutcome.NEW)
        except IndexStoreError as error:
            raise DropItem(str(error), log_level="DEBUG") from error
        raise DropItem("the crawl ends, because the index cannot be written", log_level="DEBUG")

    def end_visit(self, visit: Visit, ending: Ending) -> None:
        """Note the outcome of an item."""
        visit.note_ending(ending)

    # ---- item signals

    def _scraped(self, item: Any) -> None:
        """Remember an item that has passed all pipelines; a replaced item brings its `checksum` along."""
        visit = self.visit_of(item)
        if visit is None:
            self._note_without_url(item)
            return
        self._in_flight.pop(id(item), None)
        checksum = ItemAdapter(item).get("checksum")
        if not visit.checksum and isinstance(checksum, str) and _CHECKSUM.fullmatch(checksum):
            visit.note_checksum(bytes.fromhex(checksum))
        self._remember(visit)

    def _note_without_url(self, item: Any) -> None:
        if not self._without_url:
            logger.warning("The pipelines of ultracrawl ignore items without a `url`, such as %r", item)
        self._without_url += 1

    def _dropped(self, item: Any) -> None:
        _, visit = self._in_flight.pop(id(item), (None, None))
        if visit is not None and visit.done:
            self._unchanged += 1
            self._remember(visit)

    def _failed(self, item: Any) -> None:
        self._in_flight.pop(id(item), None)

    def _remember(self, visit: Visit) -> None:
        if self._state is not None and visit.checksum:
            self._state.note_item(visit.url, visit.checksum)

    # ---- the index

    async def _close(self) -> None:
        await self.index.close()
        self._report()

    def _report(self) -> None:
        """Add the counts to the statistics of the crawl."""
        stats, counters = self._running().stats, self.context.counters
        counts = {
            "unchanged": self._unchanged,
            "indexed": counters.indexed,
            "without_url": self._without_url,
            "dropped_values": counters.dropped_values,
        }
        for name, count in counts.items():
            if count:
                stats.set_value(f"{STATS_PREFIX}/{name}", count)

    def _running(self) -> Crawler:
        crawler = self._crawler()
        assert crawler is not None
        return crawler

    def _close_soon(self, reason: str) -> None:
        deferred_from_coro(self._close_between_items(reason))

    async def _close_between_items(self, reason: str) -> None:
        """Close the spider when no item is in progress: Scrapy does not wait for items of `start()` (2.19).

        It does wait for items of responses, so that a crawl which always has some in progress is closed after the
        timeout.
        """
        engine, seconds_left = self._running().engine, CLOSE_TIMEOUT
        await sleep(0)
        while seconds_left > 0 and engine.scraper.slot is not None and not engine.scraper.slot.is_idle():
            await sleep(POLL_INTERVAL)
            seconds_left -= POLL_INTERVAL
        if engine.spider is not None:
            await engine.close_spider_async(reason=reason)


_known: WeakKeyDictionary[Crawler, PlainItems] = WeakKeyDictionary()


def items_of(crawler: Crawler) -> PlainItems:
    """Return the items of a crawler without a definition, shared by all its pipelines. Raises `NotConfigured`."""
    items = _known.get(crawler)
    if items is None:
        items = _known[crawler] = PlainItems(crawler)
    return items
