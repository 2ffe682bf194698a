"""What bounds a whole run, and when a crawl asks only for what it knows already."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.frontier.limits import SlackLimit

if TYPE_CHECKING:
    from ultracrawl.extensions.session import CrawlSession

logger = logging.getLogger(__name__)

REFRESH_ONLY = "refresh_only"
"""The rule that turns away URLs that were never fetched."""
LOOK_EVERY = 50
"""Ticks of the session, of a tenth of a second, between two looks at the limits with slack."""


class RunLimits:
    """Ends a run that took long enough, and keeps new URLs out while the source or the disk is too full."""

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        limits = session.source.limits
        self._seconds, self._bytes = limits.seconds, limits.bytes
        self._documents = SlackLimit(limits.documents, limits.documents_slack)
        self._disk = SlackLimit(limits.disk_free, limits.disk_free_slack, falling=True)
        self._ticks = 0
        self._began = 0.0
        self.reached = ""
        """The limit that ended the run, empty as long as none did."""
        self.refresh_only = False
        """Whether only URLs that were fetched before are asked for."""
        self.on_change: list[Callable[[], None]] = []
        """Called when a limit was passed, or is kept again."""
        self.free: Callable[[Path], float] = _free_percent

    def open(self) -> None:
        """Begin to count."""
        self._began = time.monotonic()
        self._look()

    def tick(self) -> None:
        """Look at the limits; called ten times a second."""
        self._ticks += 1
        if not self.reached and (self._seconds or self._bytes):
            self._check_run()
        if self._ticks % LOOK_EVERY == 0:
            self._look()

    def _check_run(self) -> None:
        report = self._session.report
        if self._seconds and time.monotonic() - self._began >= self._seconds:
            self.reached = f"limits.seconds {self._seconds:g}"
        elif self._bytes and report.bytes >= self._bytes:
            self.reached = f"limits.bytes {self._bytes}"
        if self.reached:
            report.ended_by = self.reached
            logger.info("%s: the run ends by %s", self._session.source.name, self.reached)
            self._tell()

    def _look(self) -> None:
        if not (self._documents.limit or self._disk.limit):
            return
        before = self.refresh_only
        documents = self._documents.update(self._session.state.counts().indexed)
        disk = self._disk.limit and self._disk.update(self.free(self._session.project.state.path))
        self.refresh_only = bool(documents or disk)
        if self.refresh_only == before:
            return
        which = "limits.documents" if documents else "limits.disk_free"
        told = f"only known URLs from now on ({which})" if self.refresh_only else "new URLs again"
        logger.warning("%s: %s", self._session.source.name, told)
        self._session.report.refresh_only = self._session.report.refresh_only or self.refresh_only
        self._tell()

    def _tell(self) -> None:
        for callback in self.on_change:
            callback()


def _free_percent(path: Path) -> float:
    """Return how much of the file system of a folder is free, in percent."""
    while not path.exists() and path != path.parent:
        path = path.parent
    usage = shutil.disk_usage(path)
    return 100.0 * usage.free / usage.total
