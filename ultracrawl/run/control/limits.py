"""Limits of a run, and the limits at which only known URLs are fetched."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome
from ultracrawl.model.candidate import ExceededLimit
from ultracrawl.rules.frontier.limits import SlackLimit
from ultracrawl.run.hooks import Feature
from ultracrawl.run.visit import Visit

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.results import FetchedPart
    from ultracrawl.sources import LimitsSection
    from ultracrawl.stores import RunMark, Store

logger = logging.getLogger(__name__)

DOCUMENTS, DISK_FREE = "limits.documents", "limits.disk_free"
LIMITS_OVER = "limits_over"
"""The key of the limits that were exceeded at the end of a run, in its stored report: their numbers by name."""
DISK_CHECK_TICKS = 10
"""Ticks of 0.1 s between two checks of the disk."""


class RunLimits(Feature):
    """Ends a run at its limits of time and bytes, and excludes new URLs at limits of documents and free disk.

    Bytes are checked with each response, documents with each new one, both by existing counts; the time is checked
    ten times a second and the disk once a second. Each change of the reason is logged once.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        limits = context.source.limits
        self._seconds, self._bytes = limits.seconds, limits.bytes
        self._documents, self._disk = slack_limits(limits, tuple)
        self._percent = 100.0
        """Free disk space in percent at the last check."""
        self._stored = 0
        """Number of documents indexed or submitted when the run began."""
        self.over: tuple[ExceededLimit, ...] = ()
        """The exceeded limits that exclude new URLs, with the counted values."""
        self._reasons = ""
        self._ticks = 0
        self._began = 0.0
        self.reached = ""
        """The limit that ended the run; empty if none did."""
        self.free: Callable[[Path], float] = _free_percent

    @property
    def refresh_only(self) -> bool:
        """Whether only URLs that were fetched before are requested."""
        return bool(self._reasons)

    @property
    def is_overdue(self) -> bool:
        """Whether the run took 1.5 times `limits.seconds`: visits still in flight are given up."""
        if not (self._seconds and self._began):
            return False
        return time.monotonic() - self._began >= 1.5 * self._seconds

    def allowance(self, most: float, least: float = 1.0) -> float:
        """Return the seconds that a final step may take, so that the run ends within twice `limits.seconds`."""
        if not (self._seconds and self._began):
            return most
        left = self._began + 2 * self._seconds - time.monotonic()
        return min(most, max(left, least))

    def open(self) -> None:
        """Start the clock and do the first check."""
        self._began = time.monotonic()
        self._documents, self._disk = slack_limits(self._context.source.limits, self._context.store.runs)
        if self._documents.limit:
            self._stored = self._context.store.records.count_urls().documents
        self._check()

    def tick(self) -> None:
        """Check the time and, less often, the disk."""
        if not self._began:
            return
        self._ticks += 1
        if self._seconds and time.monotonic() - self._began >= self._seconds:
            self.end_run(f"limits.seconds {self._seconds:g}")
        if self._ticks % DISK_CHECK_TICKS == 0:
            self._check()

    def response_received(self, visit: Visit) -> None:
        """Count the bytes of a response."""
        self._count(visit.fetch.size)

    def part_received(self, visit: Visit, part: FetchedPart) -> None:
        """Count the bytes of a part of a page."""
        self._context.counters.count_part()
        self._count(part.size)

    def _count(self, size: int) -> None:
        received = self._context.counters.count_bytes(size)
        if self._bytes and received >= self._bytes:
            self.end_run(f"limits.bytes {self._bytes}")

    def visit_ended(self, visit: Visit) -> None:
        """Check the number of documents after each new one."""
        if self._began and visit.outcome is UrlOutcome.NEW and self._documents.limit:
            self._judge()

    def end_run(self, reached: str) -> None:
        """Send no more requests in this run; `reached` names the limit."""
        if self.reached:
            return
        self.reached = reached
        self._context.counters.note_limit(reached)
        logger.info("%s: the run ends at the limit %s", self._context.source.name, reached)
        self._notify()

    def _check(self) -> None:
        if self._disk.limit:
            self._percent = self.free(self._context.project.state.path)
            self._disk.update(self._percent)
        self._judge()

    def _judge(self) -> None:
        documents = self._stored + self._context.counters.outcomes[UrlOutcome.NEW]
        self._documents.update(documents)
        self.over = _over(self._documents, documents, self._disk, self._percent)
        self._change(", ".join(f"{limit.name} {limit.limit:g}" for limit in self.over))

    def _change(self, reasons: str) -> None:
        before, self._reasons = self._reasons, reasons
        if reasons == before:
            return
        change = f"new URLs are no longer crawled ({reasons})" if reasons else "new URLs are crawled again"
        logger.warning("%s: %s", self._context.source.name, change)
        if reasons:
            self._context.counters.note_refresh_only(reasons)
        if bool(reasons) != bool(before):
            self._notify()

    def _notify(self) -> None:
        for notify in self._context.hooks[Feature.limits_changed]:
            notify()


def limits_over(limits: LimitsSection, state: Store, folder: Path) -> tuple[ExceededLimit, ...]:
    """Return the exceeded limits that exclude new URLs from a run that begins now; `folder` is that of the state."""
    documents, disk = slack_limits(limits, state.runs)
    number = state.records.count_urls().documents if documents.limit else 0
    percent = _free_percent(folder) if disk.limit else 100.0
    documents.update(number)
    disk.update(percent)
    return _over(documents, number, disk, percent)


def slack_limits(
    limits: LimitsSection, runs: Callable[[], Iterable[RunMark]]
) -> tuple[SlackLimit, SlackLimit]:
    """Return the limits of documents and of free disk as the latest of the `runs` left them, exceeded or not.

    A limit that was exceeded at the end of a run stays so in the next one until its slack is reached (FAST 5.17, 172
    and 174: "normal crawling resumes only when"), unless the definition has another limit by now.
    """
    documents = SlackLimit(limits.documents, limits.documents_slack)
    disk = SlackLimit(limits.disk_free, limits.disk_free_slack, falling=True)
    if not (documents.limit or disk.limit):
        return documents, disk
    latest = next((run.report for run in runs() if run.report), "{}")
    before = json.loads(latest).get(LIMITS_OVER, {})
    for name, limit in ((DOCUMENTS, documents), (DISK_FREE, disk)):
        limit.over = bool(limit.limit) and before.get(name) == limit.limit
    return documents, disk


def _over(documents: SlackLimit, number: int, disk: SlackLimit, percent: float) -> tuple[ExceededLimit, ...]:
    counted = ((DOCUMENTS, documents, float(number)), (DISK_FREE, disk, percent))
    return tuple(
        ExceededLimit(name, limit.limit or 0.0, value) for name, limit, value in counted if limit.over
    )


def _free_percent(path: Path) -> float:
    """Return the free space of the file system of a folder in percent."""
    while not path.exists() and path != path.parent:
        path = path.parent
    usage = shutil.disk_usage(path)
    return 100.0 * usage.free / usage.total
