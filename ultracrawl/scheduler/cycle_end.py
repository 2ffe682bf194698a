"""What is done once a cycle has nothing left to do: documents whose time is over, and orphans."""

from __future__ import annotations

import logging
from collections.abc import Callable

from scrapy import signals

from ultracrawl.crawl import CrawlSession
from ultracrawl.crawl.removal.orphans import OrphanSweeper, remove_orphans
from ultracrawl.errors import WorkError
from ultracrawl.scheduler.recrawl_activator import RecrawlActivator

logger = logging.getLogger(__name__)


class CycleEnd:
    """Called when nothing is queued or in flight (Scrapy's `spider_idle`); what it queues keeps the crawl going.

    Nothing is done if URLs are left over, because of a limit for example: their pages were not read.
    """

    def __init__(
        self, session: CrawlSession, waking: RecrawlActivator, wake: Callable[[float], None]
    ) -> None:
        self._session = session
        self._waking = waking
        self._wake = wake
        self._keeper = OrphanSweeper(
            session.context.store, session.context.source, session.context.rules.seeds
        )
        session.crawler.signals.connect(self.idle, signals.spider_idle)

    def idle(self) -> None:
        """Deal with what is over, and orphans, wave by wave: what one led to may be one after it left."""
        session = self._session
        try:
            if session.context.run.failed or session.context.store.queue.waiting_sites():
                return
            if session.expiry.sweep() + session.feeds.expire():
                self._wake(0.0)  # copies may take their places
            if self._waking.on:
                self._deal_with_orphans()
        except WorkError as error:
            session.context.run.fail(str(error))

    def _deal_with_orphans(self) -> None:
        session = self._session
        sweep = self._keeper.sweep()
        if sweep.remove or sweep.forget:
            remove_orphans(session.context.store, sweep, session.context.source.orphans.after)
            session.context.report.orphans += len(sweep.remove)
            for one in sweep.remove:
                record = session.context.store.records.get_record(one.key)
                if record is not None:
                    session.duplicates.left(record)
            logger.info("%d orphans are to leave, %d are forgotten", len(sweep.remove), len(sweep.forget))
        for one in sweep.ask:
            self._waking.ask(one.key)
        if sweep.ask or sweep.remove:
            self._wake(0.0)
