"""`robot.log`: the actions of a portal robot (portal robot 12.2, 18)."""

from __future__ import annotations

import logging
from enum import IntEnum
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome
from ultracrawl.run.hooks import Feature
from ultracrawl.run.logs.log_files import TimedLog

if TYPE_CHECKING:
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)


class LogLevel(IntEnum):
    """Level of detail of `robot.log`; each level includes the lower ones."""

    ERRORS = 0
    GENERATION = 1
    ENUMERATION = 2
    FILTERING = 3
    SPAWNING = 4
    RETRIEVAL = 5


_ERRORS = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED, UrlOutcome.GONE})
_GENERATED = {
    UrlOutcome.NEW: "generated",
    UrlOutcome.MODIFIED: "generated anew",
    UrlOutcome.REINDEXED: "generated anew",
}
_DENIED = frozenset({UrlOutcome.REJECTED, UrlOutcome.NOT_INDEXED, UrlOutcome.ROBOTS, UrlOutcome.DUPLICATE})


class RobotLog(Feature):
    """Logs what happens to URLs, up to a level of detail."""

    def __init__(self, log: TimedLog, level: int) -> None:
        self._log = log
        self._level = level

    def log_filter_error(self, text: str) -> None:
        """Log an error of a filter, also as a warning of the program."""
        logger.warning(text)
        self.add(LogLevel.ERRORS, f"error: {text}")

    def log_error(self, text: str) -> None:
        """Log an error."""
        self.add(LogLevel.ERRORS, text)

    def add(self, level: LogLevel, text: str) -> None:
        """Add a line, if the configured level includes `level`."""
        if level <= self._level:
            self._log.add(text)

    def visit_ended(self, visit: Visit) -> None:
        """Log the end of a visit."""
        outcome, ending = visit.outcome, visit.ending
        if visit.fetch.status and not visit.revived:
            self.add(LogLevel.RETRIEVAL, f"retrieved: {visit.url} (status {visit.fetch.status})")
        if outcome is None or ending is None:
            return
        if outcome in _ERRORS:
            cause = ending.cause or visit.fetch.error
            self.add(LogLevel.ERRORS, f"error: {visit.url}: {ending.status} {cause}".rstrip())
        elif outcome in _GENERATED:
            self.add(LogLevel.GENERATION, f"{_GENERATED[outcome]}: {visit.url}")
        elif outcome in _DENIED:
            self.add(LogLevel.FILTERING, f"denied: {visit.url}: {ending.cause}")

    def note_enumerated(self, url: str, total: int, new: int) -> None:
        """Log the number of links of a resource, and how many of them were new."""
        self.add(LogLevel.ENUMERATION, f"enumerated: {url}: {total} URLs")
        if new:
            self.add(LogLevel.SPAWNING, f"spawned: {url}: {new} new URLs")

    def note_converted(self, url: str) -> None:
        """Log a document that was converted to a page."""
        self.add(LogLevel.ENUMERATION, f"converted: {url}")
