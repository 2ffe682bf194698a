"""Checks of schedules and profiles: their sources, and options that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from pydantic import ValidationError

from ultracrawl.model.finding import FindingCode
from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.rules.schedules.times import WEEKDAYS, Unit
from ultracrawl.sources.checking.checks import FOLLOWING_TYPES
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.mistakes import format_names, format_value, suggestion
from ultracrawl.sources.project import DefinitionHead
from ultracrawl.sources.reading.tree import Data, PathFinding
from ultracrawl.sources.sections.project import ProfileSection
from ultracrawl.sources.sections.schedules import ScheduleSection, TimesSection

_ALONE = frozenset({"sqlite", "memory"})
"""Engines of the state that one machine has for itself."""


def check_schedules(
    sources: Mapping[str, DataSource],
    head: DefinitionHead,
    written: Data,
) -> Iterator[PathFinding]:
    """Yield the mistakes in schedules. If the head is invalid, `schedules` is empty and only `written` is checked."""
    schedules, profiles = head.schedules, head.profiles
    if not schedules:
        yield from _check_written_names(written, sources)
    owners: dict[str, str] = {}
    for name, schedule in schedules.items():
        here = ("schedules", name)
        for finding in (*check_times(schedule), *_check_sources(schedule, sources)):
            yield finding._replace(path=(*here, *finding.path))
        if schedule.profile and schedule.profile not in profiles:
            problem = f"there is no profile {format_value(schedule.profile)}"
            otherwise = (
                f"write {format_names(list(profiles)[:20])}"
                if profiles
                else "define it below `profiles:` first"
            )
            yield PathFinding((*here, "profile"), problem, suggestion(schedule.profile, profiles, otherwise))
        if schedule.profile and schedule.node:
            problem = "a schedule runs on the machine of a profile or on a node, not on both"
            yield PathFinding((*here, "node"), problem, "remove one of the two")
        for finding in check_node(schedule.node, head):
            yield finding._replace(path=(*here, *finding.path))
        for number, source in enumerate(schedule.sources):
            owner = owners.setdefault(source, name)
            if owner != name:
                problem = (
                    f"the source {format_value(source)} belongs to the schedule {format_value(owner)} already"
                )
                yield PathFinding((*here, "sources", number), problem, "name it in one of them")


def check_node(node: str, head: DefinitionHead) -> Iterator[PathFinding]:
    """Yield a mistake for the name of a node where there can be none."""
    if node and head.state.engine in _ALONE:
        problem = f"the engine `{head.state.engine}` of the state is on one machine, so there are no nodes"
        yield PathFinding(("node",), problem, "keep the state in PostgreSQL, or remove it")


def _check_written_names(schedules: Data, sources: Mapping[str, DataSource]) -> Iterator[PathFinding]:
    """Yield the sources that written schedules name and that are not defined."""
    for name, written in schedules.items() if isinstance(schedules, dict) else ():
        try:
            named = ScheduleSection(sources=written.get("sources") if isinstance(written, dict) else ())
        except ValidationError:
            continue  # reported already
        for finding in _check_names(named, sources):
            yield finding._replace(path=("schedules", name, *finding.path))


def check_profiles(profiles: Mapping[str, ProfileSection]) -> Iterator[PathFinding]:
    """Yield a warning for each password of a profile that is sent over plain HTTP."""
    for name, profile in profiles.items():
        parts = urlsplit(profile.scrapyd)
        if profile.password is not None and parts.scheme == "http" and parts.hostname not in LOOPBACK_NAMES:
            yield PathFinding(
                ("profiles", name, "scrapyd"),
                "the password is sent unencrypted",
                "have a proxy before Scrapyd that speaks https, unless the way there is secure",
                fatal=False,
            )


def check_times(section: TimesSection) -> Iterator[PathFinding]:
    """Yield missing and contradictory time options of a section."""
    step = section.every
    if not section.cron and step is None:
        instead = "add `every: day`" if section.at else 'add `cron: "0 3 * * *"`, or `every: 6 h`'
        yield PathFinding((), "no launch time is defined", instead)
    if section.cron:
        for option in ("every", "at", "on"):
            if getattr(section, option):
                yield PathFinding(
                    (option,), f"`{option}` has no effect beside `cron`", "remove one of the two"
                )
        return
    unit = step.unit if step else None
    if section.at and unit in {Unit.MINUTE, Unit.HOUR}:
        yield PathFinding(
            ("at",), "a time of day goes with days, weeks and months", "remove it, or write `every: day`"
        )
    if section.on and unit not in {None, Unit.WEEK, Unit.MONTH}:
        yield PathFinding(
            ("on",), "days go with weeks and months", "write `every: week` or `every: month`, or remove it"
        )
    for number, day in enumerate(section.on):
        if unit in {Unit.WEEK, Unit.MONTH} and (day in WEEKDAYS) is not (unit is Unit.WEEK):
            instead = "write for example `mon`" if unit is Unit.WEEK else "write for example `15`, or `last`"
            yield PathFinding(("on", number), f"{format_value(day)} is no day of a {unit}", instead)


def check_refresh_conflicts(
    source: DataSource, schedules: Mapping[str, ScheduleSection]
) -> Iterator[PathFinding]:
    """Yield the options of a source that have no effect because it belongs to a schedule.

    An interval, as `init` writes it, is a hint: that the schedule replaces it is what its author means.
    """
    name = next((name for name, schedule in schedules.items() if source.name in schedule.sources), None)
    if name is None:
        return
    refresh = source.refresh
    options = {
        ("refresh", "interval"): refresh.interval,
        ("refresh", "when_idle"): refresh.when_idle,
        ("node",): source.node,
    }
    for path in (path for path, value in options.items() if value):
        option = ".".join(path)
        problem = f"the source is crawled by the schedule {format_value(name)}, so `{option}` has no effect"
        instead = "remove it, or take the source out of the schedule"
        yield PathFinding(path, problem, instead, fatal=path != ("refresh", "interval"))


def without_interval(source: DataSource, schedules: Mapping[str, ScheduleSection]) -> DataSource:
    """Return a source without its interval if it belongs to a schedule, which decides in its place."""
    if source.refresh.interval is None or not any(source.name in one.sources for one in schedules.values()):
        return source
    return source.model_copy(update={"refresh": source.refresh.model_copy(update={"interval": None})})


def check_due(source: DataSource, head: DefinitionHead) -> Iterator[PathFinding]:
    """Yield a hint for a source that `serve` never crawls, because neither a time nor a default applies to it."""
    name = next((name for name, schedule in head.schedules.items() if source.name in schedule.sources), None)
    if name is None and (source.refresh.interval is not None or source.refresh.when_idle):
        return
    if name is not None and not head.schedules[name].enabled:
        problem = f"`serve` never crawls it: its schedule {format_value(name)} has `enabled: false`"
        instead = "remove that line, or crawl it by `ultracrawl crawl` or `schedule launch`"
    elif name is None and head.processes.default_interval is None:
        default = "`processes.default_interval`"
        problem = f"`serve` never crawls it: it has neither a schedule nor an interval, and {default} is off"
        instead = "write for example `refresh: {interval: 24 h}`, or crawl it by `ultracrawl crawl`"
    else:
        return
    yield PathFinding((), problem, instead, fatal=False, code=FindingCode.NEVER_DUE)


def _check_sources(schedule: ScheduleSection, sources: Mapping[str, DataSource]) -> Iterator[PathFinding]:
    if not schedule.sources:
        yield PathFinding(("sources",), "the schedule has no sources", "name at least one")
    yield from _check_names(schedule, sources)
    for number, name in enumerate(schedule.sources):
        known = sources.get(name)
        if name in schedule.sources[:number]:
            yield PathFinding(("sources", number), f"{format_value(name)} is named twice", "remove it")
        elif known is not None and schedule.mode == "examine" and known.type not in FOLLOWING_TYPES:
            problem = f"the source {format_value(name)} cannot be examined: that mode is for web sources only"
            yield PathFinding(("sources", number), problem, "give it a schedule of its own")


def _check_names(schedule: ScheduleSection, sources: Mapping[str, DataSource]) -> Iterator[PathFinding]:
    otherwise = f"write {format_names(list(sources)[:20])}" if sources else "define it below `sources:` first"
    for number, name in enumerate(schedule.sources):
        if name not in sources:
            problem = f"there is no source {format_value(name)}"
            yield PathFinding(("sources", number), problem, suggestion(name, sources, otherwise))
