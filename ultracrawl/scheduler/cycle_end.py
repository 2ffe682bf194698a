"""What is done once a cycle has nothing left to do: documents whose time is over, and orphans."""

from __future__ import annotations

import logging
from collections.abc import Callable

from scrapy import signals
from scrapy.signalmanager import SignalManager

from ultracrawl.crawl import CrawlContext
from ultracrawl.crawl.removal.orphans import OrphanSweeper, remove_orphans
from ultracrawl.errors import WorkError
from ultracrawl.scheduler.candidates.recrawl_activator import RecrawlActivator

logger = logging.getLogger(__name__)


class CycleEnd:
    """Called when nothing is queued or in flight (Scrapy's `spider_idle`); what it queues keeps the crawl going.

    Nothing is done while URLs wait that this run does not fetch, because of a limit for example: their links are
    not known.
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
        """Remove expired documents and orphans; called for each wave, as what an orphan linked to may be one next."""
        context = self._context
        try:
            if context.run.failed or context.store.queue.waiting_sites():
                return
            if sum(end_cycle() for end_cycle in context.hooks.cycle_ended):
                self._wake(0.0)  # copies may take their places
            if self._activator.on:
                self._deal_with_orphans()
        except WorkError as error:
            context.run.fail(str(error))

    def _deal_with_orphans(self) -> None:
        context = self._context
        sweep = self._sweeper.sweep()
        if sweep.remove or sweep.forget:
            remove_orphans(context.store, sweep, context.source.orphans.after)
            context.counters.count_orphans(len(sweep.remove))
            for one in sweep.remove:
                record = context.store.records.get_record(one.key)
                if record is not None:
                    for told in context.hooks.document_leaving:
                        told(record)
            logger.info("%d orphans are to leave, %d are forgotten", len(sweep.remove), len(sweep.forget))
        for one in sweep.ask:
            self._activator.queue_orphan(one.key)
        if sweep.ask or sweep.remove:
            self._wake(0.0)
