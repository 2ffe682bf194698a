"""Removes expired documents and orphans when a cycle has no more work."""

from __future__ import annotations

import logging
from collections.abc import Callable

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.signalmanager import SignalManager

from ultracrawl.errors import WorkError
from ultracrawl.run import CrawlContext
from ultracrawl.run.hooks import Feature
from ultracrawl.run.removal.orphans import OrphanSweeper, remove_orphans
from ultracrawl.scheduler.candidates.recrawl_activator import RecrawlActivator

logger = logging.getLogger(__name__)


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
    ) -> None:
        self._context = context
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
            complete = not context.store.queue.waiting_sites()
            if context.documents.settle(complete=complete):
                self._wake(0.0)
                raise DontCloseSpider  # what is placed or refused may have to be replaced by duplicates
            if not complete:
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
