"""How the sources of a service stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ultracrawl.service.control import readable_sign
from ultracrawl.service.orders import CrawlEnd, SourcePhase, SourceState
from ultracrawl.service.supervisor.pool import PooledCrawl
from ultracrawl.service.supervisor.processes import ChildCrawl
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Phase

_PHASES = {
    Phase.PAUSING: SourcePhase.PAUSED,
    Phase.PAUSED: SourcePhase.PAUSED,
    Phase.STOPPING: SourcePhase.STOPPING,
}


@dataclass(frozen=True, slots=True)
class _Last:
    """How the last crawl of a source ended, and when."""

    end: CrawlEnd
    at: float


class SourceStates:
    """Answers how sources stand: by their crawls, the signs of those that others began, and how the last one ended."""

    def __init__(self) -> None:
        self._last: dict[str, _Last] = {}

    def note_end(self, end: CrawlEnd, now: float) -> None:
        """Take note of how a crawl ended."""
        self._last[end.source] = _Last(end, now)

    def sources(
        self,
        project: Project,
        crawls: Mapping[str, PooledCrawl],
        due: Mapping[str, float],
        paused: Collection[str],
    ) -> list[SourceState]:
        """Return all sources of a project, in the order of its definition."""
        schedules = {source: name for name, one in project.schedules.items() for source in one.sources}
        return [
            self._state(
                project, name, crawls.get(name), due.get(name), name in paused, schedules.get(name, "")
            )
            for name in project.known_sources
        ]

    def _state(
        self,
        project: Project,
        name: str,
        crawl: PooledCrawl | None,
        due: float | None,
        paused: bool,
        schedule: str,
    ) -> SourceState:
        last, mistaken = self._last.get(name), project.invalid_sources.get(name)
        live = crawl.current.live if crawl and isinstance(crawl.current, ChildCrawl) else None
        return SourceState(
            name,
            _phase(project, name, crawl),
            live.run if live else "",
            live.counts if live else {},
            crawl.begun if crawl else 0.0,
            due,
            last.end.report if last else None,
            last.at if last else None,
            str(mistaken.findings[0]) if mistaken else last.end.line if last else "",
            paused,
            schedule,
        )


def _phase(project: Project, name: str, crawl: PooledCrawl | None) -> SourcePhase:
    if crawl is not None and crawl.stopped:
        return SourcePhase.STOPPING
    if crawl is not None and crawl.current is None:
        return SourcePhase.BACKING_OFF if crawl.resting else SourcePhase.QUEUED
    sign = readable_sign(project, name)
    if sign is not None:
        return _PHASES.get(sign.phase, SourcePhase.RUNNING)
    return SourcePhase.RUNNING if crawl else SourcePhase.IDLE
