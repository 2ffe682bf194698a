"""The coming day: when each source is crawled in the next 24 hours, by its schedule or its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.service.notices.watch import interval_of
from ultracrawl.service.pages.admin.sources.overview import SourceRow, overview

if TYPE_CHECKING:
    from ultracrawl.service.api.state import ApiState
    from ultracrawl.sources import Project

DAY = 86_400.0
_MOST = 96
"""Crawls of a source in a day that are shown."""


class DayRow(NamedTuple):
    """A source in the coming day."""

    source: str
    schedule: str
    """Empty: an interval crawls it."""
    times: list[float]
    """When it is due, in seconds since 1970."""
    seconds: float
    """How long its last crawl took."""
    why_not: str
    """Why it is not due, in a sentence."""
    now: float

    @property
    def marks(self) -> list[tuple[float, float, float]]:
        """Beginning and width of each crawl, in thousandths of the day, and its time."""
        width = max(4.0, round(1000 * self.seconds / DAY, 1))
        return [(round(max(0.0, 1000 * (at - self.now) / DAY), 1), width, at) for at in self.times]


def coming_day(state: ApiState, now: float) -> list[DayRow]:
    """Return all sources, those that are due first before the others."""
    project = state.project
    rows = [_row(project, row, now) for row in overview(state).rows if row.name in project.sources]
    return sorted(rows, key=lambda row: (row.times[0] if row.times else now + 2 * DAY, row.source))


def _row(project: Project, row: SourceRow, now: float) -> DayRow:
    schedule = project.schedule_of(row.name)
    is_paused = row.live is not None and row.live.paused_by_hand
    first = None if is_paused else row.next_run
    interval = interval_of(project, project.sources[row.name], now)
    times = list[float]()
    at = max(first, now) if first is not None else now + DAY
    while at < now + DAY and len(times) < _MOST:
        times.append(at)
        following = project.schedules[schedule].times.next_after(at) if schedule else at + (interval or DAY)
        at = max(following, at + 1)
    never = next((one.text for one in row.needs if one.text and one.kind == "never-due"), "")
    return DayRow(row.name, schedule, times, row.last.seconds if row.last else 0.0, never, now)
