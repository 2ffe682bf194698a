"""Plans: the schedules of a project, and its sources with an interval of their own."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Protocol

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import StateDamagedError, StateError, UserError
from ultracrawl.rules.recrawl.cycle import CycleRule
from ultracrawl.rules.schedules.times import ScheduleTimes
from ultracrawl.rules.schedules.window import RunWindow
from ultracrawl.service.orders import Launcher
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.schedules import ScheduleSection
from ultracrawl.stores import RunMark
from ultracrawl.stores.port.schedule_store import own_key
from ultracrawl.stores.project_stores import state_to_read

logger = logging.getLogger(__name__)

MISSED_AFTER = 120.0
"""Seconds after which a due time counts as missed: no process ran the schedule, or the machine was suspended."""
_MAX_NAMES = 10
"""Names of sources in one line."""
REST = 1.0
"""Seconds between two runs of a source that is crawled continuously (`refresh.when_idle`)."""
REST_AFTER_FAILURE = 60.0
"""Seconds before the next run after one that failed or could not start."""

LatestRun = Callable[[str], RunMark | None]
"""Returns the latest run of a source; None if there is none. Raises `StateError` if its state cannot be read now."""


class Timing(Protocol):
    """Computes when a plan is due."""

    def first_due(self, now: float, planned: float | None) -> float:
        """Return the next due time; `planned` is the one computed before, perhaps by an earlier process."""

    def due_after(self, now: float, *, failed: bool, begun: bool) -> float:
        """Return the due time after a run that ends now; `begun` is False if it could not start."""

    def over_at(self, begun: float) -> float | None:
        """Return when a crawl that begins then, or is resumed then, has to end; None if there is no limit."""

    def stale_after(self, success: float) -> float | None:
        """Return when the documents of a successful run at a time are two intervals old; None if that is undefined."""


@dataclass(frozen=True, slots=True)
class ScheduleTiming:
    """The times of a schedule."""

    times: ScheduleTimes
    skips_missed: bool = False

    def first_due(self, now: float, planned: float | None) -> float:
        """Return the next time, or the planned one if it was missed and missed runs are made up for."""
        missed = planned is not None and planned <= now
        if missed and planned is not None and not (self.skips_missed and now - planned > MISSED_AFTER):
            return planned
        return self.times.next_after(now)

    def due_after(self, now: float, *, failed: bool, begun: bool) -> float:
        """Return the next time; times during the run are skipped."""
        return self.times.next_after(now)

    def over_at(self, begun: float) -> float | None:
        """Return None: the duration of a run is not limited."""
        return None

    def stale_after(self, success: float) -> float | None:
        """Return the second time after the success."""
        return self.times.next_after(self.times.next_after(success))


@dataclass(frozen=True, slots=True)
class OwnInterval:
    """The refresh cycles of a source: cycle k starts k intervals after the first, in any process (FAST 5.1 J60)."""

    source: DataSource
    latest: Callable[[], RunMark | None] = field(compare=False)
    """Returns the latest run of the source, of any process. Raises `StateError`."""
    default: float | None = None
    """The interval of a source that has none of its own; its crawls take as long as they take."""

    @property
    def _rule(self) -> CycleRule:
        return self.source.refresh.rule if self.default is None else CycleRule(interval=self.default)

    def first_due(self, now: float, planned: float | None) -> float:
        """Return the start of the next cycle, or now if a cycle is unfinished; a minute later if that is not known."""
        return now if self.source.refresh.when_idle else self._next_cycle(now, resumes=True)

    def due_after(self, now: float, *, failed: bool, begun: bool) -> float:
        """Return the start of the next cycle; a source that failed rests for a minute at least."""
        if not begun:
            return now + REST_AFTER_FAILURE
        if self.source.refresh.when_idle:
            return now + max(REST_AFTER_FAILURE if failed else REST, self.source.politeness.delay)
        due = self._next_cycle(now, resumes=False)
        return max(due, now + REST_AFTER_FAILURE) if failed else due

    def _next_cycle(self, now: float, *, resumes: bool) -> float:
        """Return when the next cycle starts; with `resumes` an unfinished one goes on now."""
        try:
            latest = self.latest()
        except StateError:
            return now + REST_AFTER_FAILURE  # nobody knows when it is due
        if latest is None or (resumes and not latest.finished):
            return now
        return self._rule.next_due(latest.place, now) or now

    def over_at(self, begun: float) -> float | None:
        """Return the end of the cycle that begins or goes on then; None for a source without an interval of its own."""
        if self.default is not None:
            return None
        try:
            rule, latest = self._rule, self.latest()
        except StateError:
            return None  # the crawl reports it
        if latest is None or latest.finished or rule.is_over(latest.place, latest.started, begun):
            place = rule.following(latest.place if latest else None, begun, nothing_stored=latest is None)
            return rule.ends(place, begun)
        return rule.ends(latest.place, min(latest.started, begun))

    def stale_after(self, success: float) -> float | None:
        """Return two intervals later."""
        interval = self.default or self.source.refresh.interval
        return None if interval is None else success + 2 * interval


@dataclass(frozen=True, slots=True)
class Plan:
    """Sources that are crawled together, with their timing."""

    name: str
    sources: tuple[str, ...]
    timing: Timing
    own: bool = False
    """Whether it is a source at its own interval; the name of the plan is then that of the source."""
    mode: str = ""
    force: bool = False
    profile: str = ""
    node: str = ""
    """The node that alone runs it; empty: any process."""
    window: RunWindow = field(default_factory=RunWindow)
    stops: ScheduleTimes | None = None
    """When its crawls are stopped; None for never."""
    repeat: bool = False
    """Whether it is launched again as soon as its run has ended, until the next stop time."""
    launcher: Launcher | None = None
    """Replaces the launcher of the runner."""
    enabled: bool = True
    """Whether the definition enables launches by time."""
    restored: bool = True
    """Whether it goes on as the last process with this plan left it."""

    @property
    def key(self) -> str:
        """The key in the schedule store."""
        return own_key(self.name) if self.own else self.name

    def stops_after(self, moment: float) -> float:
        """Return its first stop time after a moment, infinity if it has none."""
        return math.inf if self.stops is None else self.stops.next_after(moment)

    def stops_at(self, moment: float) -> bool:
        """Return whether a moment is a stop time: a launch then begins when its crawls have been stopped."""
        return self.stops_after(moment - 1) == moment

    def due_after(self, now: float, *, failed: bool, begun: bool) -> float:
        """Return the due time after a run that ends now; `begun` is False if it could not start."""
        due = self.timing.due_after(now, failed=failed, begun=begun)
        soon = now + (REST_AFTER_FAILURE if failed else REST)
        return soon if self.repeat and (self.stops is None or soon < self.stops_after(now) < due) else due


def own_interval(project: Project, source: DataSource, latest: LatestRun | None = None) -> OwnInterval:
    """Return the timing of a source by its own interval or the default, based on the runs in its state."""
    default = project.default_interval_of(source)
    read = latest or _LatestRun(project)
    return OwnInterval(source, partial(read, source.name), default)


class _LatestRun:
    """Returns the latest run of a source by its state; says once that it cannot be read, until it can."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._unread = False

    def __call__(self, source: str) -> RunMark | None:
        """Return the run. Raises `StateError`."""
        try:
            with state_to_read(self._project, source) as state:
                latest = next(iter(state.runs(1)), None) if state else None
        except StateDamagedError:
            return None  # the crawl sets it aside, and begins anew
        except StateError as error:
            if not self._unread:
                logger.warning("%s is not crawled until its state can be read: %s", source, error)
            self._unread = True
            raise
        self._unread = False
        return latest


def plans_of(
    project: Project,
    names: Collection[str] | None = None,
    *,
    by_default: bool = False,
    latest: LatestRun | None = None,
) -> list[Plan]:
    """Return the plans for these sources, or for all that have a schedule or an interval.

    With `by_default` also for those that have neither, at the default interval of the project. Sources whose
    definitions have mistakes are left out, also of schedules. `latest` returns the latest run of a source; without it
    the states are read.
    """
    wanted = [name for name in project.sources if names is None or name in names]
    plans = [
        _scheduled(name, section, sources)
        for name, section in project.schedules.items()
        if (sources := tuple(source for source in section.sources if source in wanted))
    ]
    scheduled = {source for plan in plans for source in plan.sources}
    for name in wanted:
        source = project.sources[name]
        has_times = source.refresh.interval is not None or source.refresh.when_idle
        has_default = by_default and project.default_interval_of(source) is not None
        if name not in scheduled and (has_times or has_default):
            timing = own_interval(project, source, latest)
            plans.append(Plan(name, (name,), timing, own=True, node=source.node))
    return plans


def never_due(project: Project, source: str) -> str:
    """Return why `serve` never crawls a source by its definition; empty if it does."""
    schedule = project.schedule_of(source)
    if schedule:
        return "" if project.schedules[schedule].enabled else f"its schedule {schedule} has `enabled: false`"
    if plans_of(project, [source], by_default=True):
        return ""
    return "it has neither a schedule nor an interval, and no default applies to it"


def due_lines(project: Project) -> list[str]:
    """Return what a service says at its start: which sources are due by default, and which are not crawled, and why."""
    if not project.known_sources:
        return ["there is nothing to crawl: write a source under `sources:`; the service will notice it"]
    by_default = [name for name, one in project.sources.items() if project.default_interval_of(one)]
    lines = []
    if by_default and (interval := project.processes.default_interval):
        every = f"every {interval / 3600:g} h, the default of `processes.default_interval`"
        lines.append(f"without a schedule or an interval: {_names(by_default)}; crawled {every}")
    reasons: dict[str, list[str]] = {}
    for name in project.sources:
        if reason := never_due(project, name):
            reasons.setdefault(reason, []).append(name)
    lines += [f"never due: {_names(names)}: {reason}" for reason, names in reasons.items()]
    mistakes = [finding for source in project.invalid_sources.values() for finding in source.findings]
    more = f" (and {len(mistakes) - 1} more; `ultracrawl lint` shows them)" if len(mistakes) > 1 else ""
    return lines + [f"not crawled: {_names([*project.invalid_sources])}: {one}{more}" for one in mistakes[:1]]


def _names(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return f"{', '.join(names[:_MAX_NAMES])}{f' and {more} more' if more > 0 else ''}"


def _scheduled(name: str, section: ScheduleSection, sources: tuple[str, ...]) -> Plan:
    return Plan(
        name,
        sources,
        ScheduleTiming(section.times, section.missed == "skip"),
        mode=section.mode or "",
        force=section.force,
        profile=section.profile,
        node=section.node,
        window=section.run_window,
        stops=section.stop_times,
        repeat=section.repeat,
        enabled=section.enabled,
    )


def require_plans(plans: Collection[Plan], sources: Mapping[str, DataSource]) -> None:
    """Raise `UserError` for a source without a plan."""
    planned = {source for plan in plans for source in plan.sources}
    for name in sources:
        if name not in planned:
            raise UserError(
                f"no interval or schedule starts the next cycle of {name!r}; "
                "write for example `refresh: {interval: 24 h}`, or `refresh: {when_idle: true}`, or a schedule"
            )
