"""What bounds a whole run, and when a crawl asks only for what it knows already."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.crawl.hooks import Feature
from ultracrawl.crawl.visit import Visit
from ultracrawl.model import UrlOutcome
from ultracrawl.model.candidate import ExceededLimit
from ultracrawl.rules.frontier.limits import SlackLimit

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.sources import LimitsSection
    from ultracrawl.stores import Store

logger = logging.getLogger(__name__)

LOOK_EVERY = 10
"""Ticks of the crawl, of a tenth of a second, between two looks at the disk."""


class RunLimits(Feature):
    """Ends a run that took long enough, and keeps new URLs out while the source or the disk is too full.

    Bytes and documents are looked at with each answer, by numbers that are counted anyway; the time ten times a
    second, the disk once. A change of the reason is logged once.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        limits = context.source.limits
        self._seconds, self._bytes = limits.seconds, limits.bytes
        self._documents = SlackLimit(limits.documents, limits.documents_slack)
        self._disk = SlackLimit(limits.disk_free, limits.disk_free_slack, falling=True)
        self._percent = 100.0
        """How much of the disk was free at the last look."""
        self._stored = 0
        """Documents in the index, or on their way into it, when the run began."""
        self.over: tuple[ExceededLimit, ...] = ()
        """The limits that keep new URLs out, with what was counted."""
        self._reasons = ""
        self._ticks = 0
        self._began = 0.0
        self.reached = ""
        """The limit that ended the run, empty as long as none did."""
        self.free: Callable[[Path], float] = _free_percent

    @property
    def refresh_only(self) -> bool:
        """Whether only URLs that were fetched before are asked for."""
        return bool(self._reasons)

    @property
    def late(self) -> bool:
        """Whether half as much time again as `limits.seconds` is over: what is still in flight is given up."""
        if not (self._seconds and self._began):
            return False
        return time.monotonic() - self._began >= 1.5 * self._seconds

    def allowance(self, most: float, least: float = 1.0) -> float:
        """Return how many seconds a step at the end of the run may take, so that it ends within twice its time."""
        if not (self._seconds and self._began):
            return most
        left = self._began + 2 * self._seconds - time.monotonic()
        return min(most, max(left, least))

    def open(self) -> None:
        """Begin to count."""
        self._began = time.monotonic()
        if self._documents.limit:
            self._stored = self._context.store.records.count_urls().documents
        self._look()

    def tick(self) -> None:
        """Look at the clock and, more seldom, at the disk; called ten times a second."""
        self._ticks += 1
        if self._seconds and time.monotonic() - self._began >= self._seconds:
            self.end_run(f"limits.seconds {self._seconds:g}")
        if self._ticks % LOOK_EVERY == 0:
            self._look()

    def note_answer(self, visit: Visit) -> None:
        """Count the bytes of an answer."""
        received = self._context.counters.count_bytes(visit.fetch.size)
        if self._bytes and received >= self._bytes:
            self.end_run(f"limits.bytes {self._bytes}")

    def visit_ended(self, visit: Visit) -> None:
        """Look at the number of documents after each new one."""
        if visit.outcome is UrlOutcome.NEW and self._documents.limit:
            self._judge()

    def end_run(self, reached: str) -> None:
        """Ask for nothing more in this run; `reached` says why."""
        if self.reached:
            return
        self.reached = reached
        self._context.counters.note_limit(reached)
        logger.info("%s: the run ends by %s", self._context.source.name, reached)
        self._tell()

    def _look(self) -> None:
        if self._disk.limit:
            self._percent = self.free(self._context.project.state.path)
            self._disk.update(self._percent)
        self._judge()

    def _judge(self) -> None:
        documents = self._stored + self._context.counters.outcomes[UrlOutcome.NEW]
        self._documents.update(documents)
        self.over = _over(self._documents, documents, self._disk, self._percent)
        self._change(", ".join(f"{one.name} {one.limit:g}" for one in self.over))

    def _change(self, reasons: str) -> None:
        before, self._reasons = self._reasons, reasons
        if reasons == before:
            return
        told = f"only known URLs from now on ({reasons})" if reasons else "new URLs again"
        logger.warning("%s: %s", self._context.source.name, told)
        if reasons:
            self._context.counters.note_new_urls_kept_out()
        if bool(reasons) != bool(before):
            self._tell()

    def _tell(self) -> None:
        for told in self._context.hooks.limits_changed:
            told()


def limits_over(limits: LimitsSection, state: Store, folder: Path) -> tuple[ExceededLimit, ...]:
    """Return what has a run that begins now ask only for what it knows already; `folder` is that of the state."""
    documents = SlackLimit(limits.documents, limits.documents_slack)
    disk = SlackLimit(limits.disk_free, limits.disk_free_slack, falling=True)
    number = state.records.count_urls().documents if documents.limit else 0
    percent = _free_percent(folder) if disk.limit else 100.0
    documents.update(number)
    disk.update(percent)
    return _over(documents, number, disk, percent)


def _over(documents: SlackLimit, number: int, disk: SlackLimit, percent: float) -> tuple[ExceededLimit, ...]:
    counted = (("limits.documents", documents, float(number)), ("limits.disk_free", disk, percent))
    return tuple(
        ExceededLimit(name, limit.limit or 0.0, value) for name, limit, value in counted if limit.over
    )


def _free_percent(path: Path) -> float:
    """Return how much of the file system of a folder is free, in percent."""
    while not path.exists() and path != path.parent:
        path = path.parent
    usage = shutil.disk_usage(path)
    return 100.0 * usage.free / usage.total
