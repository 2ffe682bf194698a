"""Computes the states of the sources of a service."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ultracrawl.dataclass import dataclass
from ultracrawl.service.control import readable_status
from ultracrawl.service.orders import CrawlEnd, CrawlProgress, SourcePhase, SourceState
from ultracrawl.service.supervisor.pool import PooledCrawl
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import CrawlStatus, Phase

_PHASES = {
    Phase.PAUSING: SourcePhase.PAUSED,
    Phase.PAUSED: SourcePhase.PAUSED,
    Phase.STOPPING: SourcePhase.STOPPING,
}


@dataclass(frozen=True, slots=True)
class _LastEnd:
    """The end of the last crawl of a source, and its time."""

    end: CrawlEnd
    at: float


class SourceStates:
    """Computes the states of sources from their crawls, crawls in other processes, and the last ends."""

    def __init__(self) -> None:
        self._last: dict[str, _LastEnd] = {}

    def note_end(self, end: CrawlEnd, now: float) -> None:
        """Record the end of a crawl."""
        self._last[end.source] = _LastEnd(end, now)

    def sources(
        self,
        project: Project,
        crawls: Mapping[str, PooledCrawl],
        due: Mapping[str, float],
        paused: Collection[str],
    ) -> list[SourceState]:
        """Return the states of all sources of a project, in the order of its definition."""
        schedules = {
            source: name for name, section in project.schedules.items() for source in section.sources
        }
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
        progress = crawl.progress if crawl else CrawlProgress()
        status = readable_status(project, name)
        return SourceState(
            name,
            _phase(status, crawl),
            progress.run,
            progress.counts,
            crawl.begun if crawl else 0.0,
            due,
            last.end.report if last else None,
            last.at if last else None,
            str(mistaken.findings[0]) if mistaken else last.end.line if last else "",
            paused,
            schedule,
            status.wait if status is not None else None,
        )


def _phase(status: CrawlStatus | None, crawl: PooledCrawl | None) -> SourcePhase:
    if crawl is not None and crawl.stopped:
        return SourcePhase.STOPPING
    if crawl is not None and crawl.current is None:
        return SourcePhase.BACKING_OFF if crawl.awaits_restart else SourcePhase.QUEUED
    if status is not None:
        return _PHASES.get(status.phase, SourcePhase.RUNNING)
    return SourcePhase.RUNNING if crawl else SourcePhase.IDLE
