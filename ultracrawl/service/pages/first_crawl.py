"""The progress of first crawls: what can be found already, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass
from ultracrawl.service.orders import SourcePhase, SourceState

if TYPE_CHECKING:
    from ultracrawl.service.access.requester import Requester
    from ultracrawl.service.api.state import ApiState

_ACTIVE = frozenset({SourcePhase.QUEUED, SourcePhase.RUNNING, SourcePhase.PAUSED, SourcePhase.BACKING_OFF})
_LEAST_SECONDS = 3.0
"""Seconds of a crawl before which it has no speed."""
_MINUTE = 60.0
_SILENT_SECONDS = 30.0
"""Seconds without any page after which the server of a source counts as silent."""


@dataclass(frozen=True, slots=True)
class FirstCrawl:
    """The first crawls of sources that run now, together."""

    sources: int
    waiting: int
    """URLs that wait to be fetched."""
    speed: float | None
    """Pages a second; None if that cannot be said yet."""
    is_paused: bool
    problem: bool
    """Whether one of them has died and waits to be started again."""
    is_waiting: bool
    """Whether each of them waits for a site that it may not request before a time."""
    is_silent: bool
    """Whether no server of theirs has answered; crawls of silent servers do not count beside others."""

    @property
    def left(self) -> float:
        """About how many seconds what waits takes, a minute and more; 0 if it takes less or cannot be said."""
        left = self.waiting / self.speed if self.speed else 0.0
        return round(left / _MINUTE) * _MINUTE


def first_crawl(state: ApiState, requester: Requester, now: float) -> FirstCrawl | None:
    """Return the progress of the first crawls of sources that the requester may see; None if there are none.

    `now` is in seconds since 1970.
    """
    active = [
        one
        for one in state.supervisor.sources()
        if one.phase in _ACTIVE
        and requester.finds_in(one.name)
        and one.last_end is None
        and not _was_crawled(state, one.name)
    ]
    if not active:
        return None
    silent = [one for one in active if _is_silent(one, now)]
    is_silent = len(silent) == len(active)
    if not is_silent:
        active = [one for one in active if one not in silent]
    running = [one for one in active if one.begun and now - one.begun >= _LEAST_SECONDS]
    speed = sum(one.live.get("fetched", 0) / (now - one.begun) for one in running) if running else None
    return FirstCrawl(
        len(active),
        sum(one.live.get("queued", 0) for one in active),
        speed,
        all(one.phase is SourcePhase.PAUSED for one in active),
        any(one.phase is SourcePhase.BACKING_OFF for one in active),
        all(one.wait is not None for one in active),
        is_silent,
    )


def _is_silent(source: SourceState, now: float) -> bool:
    return bool(source.begun and now - source.begun > _SILENT_SECONDS and not source.live.get("fetched"))


def _was_crawled(state: ApiState, name: str) -> bool:
    """Return whether a crawl of a source has ever come to its end."""
    return state.holdings.holdings_of(state.project, name).last_success is not None
