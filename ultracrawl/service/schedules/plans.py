"""What is to be kept: schedules with their sources, and sources that have an interval of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ultracrawl.errors import StateError, UserError
from ultracrawl.rules.schedules.times import ScheduleTimes
from ultracrawl.rules.schedules.window import RunWindow
from ultracrawl.service.orders import Launcher
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.schedules import ScheduleSection
from ultracrawl.stores import RunMark
from ultracrawl.stores.opening import state_to_read

LATE = 120.0
"""Seconds after which a time counts as missed, as when nothing kept the schedule or the machine was suspended."""
REST = 1.0
"""Seconds between a run and the next one of a source that is crawled again and again."""
REST_AFTER_FAILURE = 60.0
"""Seconds after a run that failed, or a source that could not begin, before the next one."""


class Rhythm(Protocol):
    """When a plan is due."""

    def first_due(self, now: float, kept: float | None) -> float:
        """Return when it is due next; `kept` is what was planned before, perhaps by an earlier process."""

    def due_after(self, now: float, *, failed: bool, begun: bool) -> float:
        """Return when it is due after a run that ends now, or that could not begin."""

    def over_at(self, now: float) -> float | None:
        """Return when the time of a run is over that begins now, so that it is ended; None if that never is."""

    def stale_after(self, success: float) -> float | None:
        """Return when what was brought up to date at a time is two intervals old; None if that is never so."""


@dataclass(frozen=True, slots=True)
class ScheduledRhythm:
    """The times of a schedule."""

    times: ScheduleTimes
    skips_missed: bool = False

    def first_due(self, now: float, kept: float | None) -> float:
        """Return the next time, or the one that was missed if it is to be made up for."""
        missed = kept is not None and kept <= now
        if missed and kept is not None and not (self.skips_missed and now - kept > LATE):
            return kept
        return self.times.next_after(now)

    def due_after(self, now: float, *, failed: bool, begun: bool) -> float:
        """Return the next time: those at which it was busy are not made up for."""
        return self.times.next_after(now)

    def over_at(self, now: float) -> float | None:
        """Return None: a run lasts as long as it takes, and times that come meanwhile are left out."""
        return None

    def stale_after(self, success: float) -> float | None:
        """Return the second time after the success."""
        return self.times.next_after(self.times.next_after(success))


@dataclass(frozen=True, slots=True)
class OwnInterval:
    """The refresh cycles of a source: cycle k begins k intervals after the first, whoever held it (FAST 5.1 J60)."""

    source: DataSource
    latest: Callable[[], RunMark | None] = field(compare=False)
    """Returns the latest run of the source, whoever held it."""

    def first_due(self, now: float, kept: float | None) -> float:
        """Return when its next cycle is due, or now for what is left of one."""
        refresh = self.source.refresh
        if refresh.when_idle:
            return now
        latest = self.latest()
        if latest is None or not latest.finished:
            return now
        return refresh.rule.next_due(latest.place, now) or now

    def due_after(self, now: float, *, failed: bool, begun: bool) -> float:
        """Return when the next cycle is due; a source that could not begin is tried again after a minute."""
        if not begun:
            return now + REST_AFTER_FAILURE
        if self.source.refresh.when_idle:
            return now + max(REST_AFTER_FAILURE if failed else REST, self.source.politeness.delay)
        latest = self.latest()
        return now if latest is None else self.source.refresh.rule.next_due(latest.place, now) or now

    def over_at(self, now: float) -> float | None:
        """Return when the cycle is over that begins now, or goes on."""
        rule = self.source.refresh.rule
        latest = self.latest()
        if latest is None or latest.finished or rule.is_over(latest.place, now):
            place = rule.following(latest.place if latest else None, now, nothing_stored=latest is None)
        else:
            place = latest.place
        return rule.next_due(place, now)

    def stale_after(self, success: float) -> float | None:
        """Return two intervals later."""
        interval = self.source.refresh.interval
        return None if interval is None else success + 2 * interval


@dataclass(frozen=True, slots=True)
class Plan:
    """Sources that are crawled together, and when."""

    name: str
    sources: tuple[str, ...]
    rhythm: Rhythm
    own: bool = False
    """Whether it is the own interval of a source, which is then its name."""
    mode: str = ""
    force: bool = False
    profile: str = ""
    window: RunWindow = field(default_factory=RunWindow)
    launcher: Launcher | None = None
    """What begins its crawls, if that is another one than that of the runner."""
    enabled: bool = True
    """Whether the definition lets it be launched at its times."""

    @property
    def key(self) -> str:
        """What it is kept under; no schedule has a name with a slash."""
        return f"source/{self.name}" if self.own else self.name


def own_interval(project: Project, source: DataSource) -> OwnInterval:
    """Return the rhythm of a source, by what its state says of earlier runs."""
    return OwnInterval(source, lambda: _latest_run(project, source.name))


def _latest_run(project: Project, source: str) -> RunMark | None:
    try:
        with state_to_read(project, source) as state:
            return next(iter(state.runs(1)), None) if state else None
    except StateError:
        return None  # its crawl says what is wrong with it


def plans_of(project: Project, names: Collection[str] | None = None) -> list[Plan]:
    """Return the plans for these sources, or for all that have a schedule or an interval.

    Sources whose definitions have mistakes are left out; a schedule goes on with its others.
    """
    wanted = [one for one in project.sources if names is None or one in names]
    plans = [
        _scheduled(name, section, sources)
        for name, section in project.schedules.items()
        if (sources := tuple(one for one in section.sources if one in wanted))
    ]
    scheduled = {source for plan in plans for source in plan.sources}
    for name in wanted:
        refresh = project.sources[name].refresh
        if name not in scheduled and (refresh.interval is not None or refresh.when_idle):
            plans.append(Plan(name, (name,), own_interval(project, project.sources[name]), own=True))
    return plans


def _scheduled(name: str, section: ScheduleSection, sources: tuple[str, ...]) -> Plan:
    return Plan(
        name,
        sources,
        ScheduledRhythm(section.times, section.missed == "skip"),
        mode=section.mode or "",
        force=section.force,
        profile=section.profile,
        window=section.run_window,
        enabled=section.enabled,
    )


def require_plans(plans: Collection[Plan], sources: Mapping[str, DataSource]) -> None:
    """Raise `UserError` for a source that nothing says when to crawl."""
    planned = {source for plan in plans for source in plan.sources}
    for name in sources:
        if name not in planned:
            raise UserError(
                f"nothing says when the next cycle of {name!r} begins; "
                "write for example `refresh: {interval: 24 h}`, or `refresh: {when_idle: true}`, or a schedule"
            )
