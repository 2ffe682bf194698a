"""What a robot does: `robot.log` (portal robot 12.2, 18)."""

from __future__ import annotations

import logging
from enum import IntEnum
from typing import TYPE_CHECKING

from ultracrawl.crawl.logs.appended import TimedLog
from ultracrawl.model import UrlOutcome

if TYPE_CHECKING:
    from ultracrawl.crawl.visit import Visit

logger = logging.getLogger(__name__)


class LogLevel(IntEnum):
    """How much `robot.log` says; each level says what those below it say as well."""

    ERRORS = 0
    GENERATION = 1
    ENUMERATION = 2
    FILTERING = 3
    SPAWNING = 4
    RETRIEVAL = 5


_ERRORS = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED, UrlOutcome.GONE})
_GENERATED = {UrlOutcome.NEW: "generated", UrlOutcome.MODIFIED: "generated anew"}
_DENIED = frozenset({UrlOutcome.REJECTED, UrlOutcome.NOT_INDEXED, UrlOutcome.ROBOTS, UrlOutcome.DUPLICATE})


class RobotLog:
    """Tells what becomes of URLs, as much of it as a level asks for."""

    def __init__(self, log: TimedLog, level: int) -> None:
        self._log = log
        self._level = level

    def error(self, text: str) -> None:
        """Tell of something that went wrong with a filter."""
        logger.warning(text)
        self.say(LogLevel.ERRORS, f"error: {text}")

    def say(self, level: LogLevel, text: str) -> None:
        """Add a line, if the level lets it in."""
        if level <= self._level:
            self._log.add(text)

    def note_visit(self, visit: Visit) -> None:
        """Tell how a visit ended."""
        outcome, ending = visit.outcome, visit.ending
        if visit.fetch.status:
            self.say(LogLevel.RETRIEVAL, f"retrieved: {visit.url} (status {visit.fetch.status})")
        if outcome is None or ending is None:
            return
        if outcome in _ERRORS:
            why = ending.cause or visit.fetch.error
            self.say(LogLevel.ERRORS, f"error: {visit.url}: {ending.status} {why}".rstrip())
        elif outcome in _GENERATED:
            self.say(LogLevel.GENERATION, f"{_GENERATED[outcome]}: {visit.url}")
        elif outcome in _DENIED:
            self.say(LogLevel.FILTERING, f"denied: {visit.url}: {ending.cause}")

    def enumerated(self, url: str, found: int, new: int) -> None:
        """Tell how many URLs a resource led to, and how many of them were not known."""
        self.say(LogLevel.ENUMERATION, f"enumerated: {url}: {found} URLs")
        if new:
            self.say(LogLevel.SPAWNING, f"spawned: {url}: {new} new URLs")

    def converted(self, url: str) -> None:
        """Tell that a document became a page."""
        self.say(LogLevel.ENUMERATION, f"converted: {url}")
