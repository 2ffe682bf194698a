"""The end of a cycle: URLs whose documents the spider no longer yields, expired documents, orphans."""

from __future__ import annotations

import logging
from collections.abc import Callable, Set

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.signalmanager import SignalManager

from ultracrawl.errors import WorkError
from ultracrawl.model import CauseCode, UrlRecord
from ultracrawl.run import CrawlContext
from ultracrawl.run.hooks import Feature
from ultracrawl.run.removal.orphans import OrphanSweeper, remove_orphans
from ultracrawl.scheduler.recrawl import RecrawlActivator
from ultracrawl.sources import DataSource
from ultracrawl.sources.definition import WEB
from ultracrawl.stores import QueueEntry
from ultracrawl.system.nouns import counted

logger = logging.getLogger(__name__)


def may_yield_documents(source: DataSource) -> bool:
    """Return whether the spider of a source may yield documents of its own: only user code does."""
    return bool(source.spider_class) or source.type != WEB


class GivenUrls(Feature):
    """Holds back known URLs whose document the spider yielded in an earlier run, until it is done yielding.

    A `start()` yields documents while requests already go out. A request for one of these URLs would find no page
    there and remove the document from the index.
    """

    def __init__(self, context: CrawlContext, given: Set[int], place: Callable[[QueueEntry], None]) -> None:
        """Initialise; `given` has the keys of documents yielded in this run, `place` adds an entry to the frontier."""
        self._context = context
        self._given = given
        self._place = place
        self._held_back: list[QueueEntry] = []
        self._is_holding = True

    def holds_back(self, entry: QueueEntry) -> bool:
        """Return whether an entry is not requested now; if so, take it out of the queue."""
        records = self._context.store.records
        record = records.get_record(entry.key)
        if record is None or not (entry.key in self._given or self._awaits_document(record)):
            return False
        if entry.key not in self._given:
            self._held_back.append(entry)
        records.finish_url(entry, record)
        self._context.counters.count_scheduled(-1)
        return True

    def _awaits_document(self, record: UrlRecord) -> bool:
        known = record.cause.code is CauseCode.GIVEN and record.last_fetched < self._context.mark.started
        return known and self._is_holding

    def cycle_ended(self) -> int:
        """Queue the URLs whose documents were not yielded; called when the spider and all other work are done.

        If the spider failed, it may yield them in the next run: they stay as they are.
        """
        held, self._held_back, self._is_holding = self._held_back, [], False
        missed = [entry for entry in held if entry.key not in self._given]
        if missed and self._context.run.spider_failed:
            self._context.run.note_problem(
                f"{counted(len(missed), 'document')} that the spider did not yield stay, because it failed"
            )
            return 0
        for entry in missed:
            self._context.store.queue.requeue_url(entry)
            self._place(entry)
        return len(missed)


class CycleEnd:
    """Runs when nothing is queued or in flight (Scrapy's `spider_idle`); URLs that it queues keep the crawl going.

    Does nothing while the queue holds URLs that this run does not fetch, because of a limit for example: their links
    are not known.
    """

    def __init__(
        self,
        context: CrawlContext,
        activator: RecrawlActivator,
        wake: Callable[[float], None],
        dispatcher: SignalManager,
        begin_second_attempts: Callable[[], bool],
        given_up: Set[str],
    ) -> None:
        """Initialise; `begin_second_attempts` queues a visit that was set aside; returns whether it may be made.

        `given_up` are the sites that this run does not request any more: what waits is decided about without them.
        """
        self._context = context
        self._begin_second_attempts = begin_second_attempts
        self._given_up = given_up
        self._activator = activator
        self._wake = wake
        self._sweeper = OrphanSweeper(context.store, context.source, context.rules.seeds)
        dispatcher.connect(self.idle, signals.spider_idle)

    def idle(self) -> None:
        """Remove expired documents and orphans; called again after their removal, which may make further orphans."""
        context = self._context
        try:
            if context.run.failed:
                return
            if self._begin_second_attempts():
                self._wake(0.0)
                return
            context.flush()
            waiting = {site for site, _ in context.store.queue.waiting_sites()}
            if context.documents.settle(complete=waiting <= self._given_up):
                self._wake(0.0)
                raise DontCloseSpider  # what is placed or refused may have to be replaced by duplicates
            if waiting:
                return
            if sum(end_cycle() for end_cycle in context.hooks[Feature.cycle_ended]):
                self._wake(0.0)  # duplicates may take the places of removed documents
            if self._activator.on:
                self._handle_orphans()
        except WorkError as error:
            context.run.fail(str(error))

    def _handle_orphans(self) -> None:
        context = self._context
        sweep = self._sweeper.sweep()
        if sweep.remove or sweep.forget:
            remove_orphans(context.store, sweep, context.source.orphans.after)
            context.counters.count_orphans(len(sweep.remove))
            for orphan in sweep.remove:
                record = context.store.records.get_record(orphan.key)
                if record is not None:
                    for on_leaving in context.hooks[Feature.document_leaving]:
                        on_leaving(record)
            logger.info("%d orphans will be deleted, %d are forgotten", len(sweep.remove), len(sweep.forget))
        for orphan in sweep.ask:
            self._activator.queue_orphan(orphan.key)
        if sweep.ask or sweep.remove:
            self._wake(0.0)
