"""Keeps schedules and intervals in this process, one source after the other, until it is stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlEnd, EventStream, WallClock
from ultracrawl.service.run import CrawlRunner, Watcher
from ultracrawl.service.schedules.in_process import InProcessLauncher
from ultracrawl.service.schedules.plans import Plan, plans_of
from ultracrawl.service.schedules.staying import StayingCommand, store_of_command, wanted_plans
from ultracrawl.service.scrapyd.launcher import ProfileLauncher, sign_of_other_crawl
from ultracrawl.sources import DataSource, Project

Say = Callable[[str], None]


def run_continuously(
    project: Project,
    sources: Iterable[DataSource],
    *,
    told: Callable[[RunReport], None],
    say: Say = lambda _: None,
    force: bool = False,
    settings: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Crawl the sources whenever they are due, until SIGINT; `told` gets the report of each run.

    A source is due by its schedule, or by its own interval: cycle k begins k intervals after the first, which may have
    been held by an earlier process; those that were missed are not made up for (FAST 5.1 J60). With
    `refresh.when_idle` a cycle follows the one before at once (J62). Sources take turns in this process, the one that
    is due first goes first. A crawl that is still going on when its cycle is over is ended. `say` gets a line about
    what is next. Raises `UserError` for a source that says neither. Of several sources, one that cannot begin has a
    report that says why, and is tried again; a single one raises its error.
    """
    project, plans = wanted_plans(project, list(sources), force=force)
    _keep_in_process(project, plans, told, say, settings, watcher)


def launch_here(
    project: Project,
    name: str,
    *,
    told: Callable[[RunReport], None],
    settings: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Run a schedule now and to its end, in this process; `told` gets the report of each run.

    Raises `UserError`, `WorkError` if it cannot be launched.
    """
    plans = [plan for plan in plans_of(project) if plan.name == name and not plan.own]
    _keep_in_process(project, plans, told, lambda _: None, settings, watcher, once=name)


def _keep_in_process(
    project: Project,
    plans: Sequence[Plan],
    told: Callable[[RunReport], None],
    say: Say,
    settings: dict[str, Any] | None,
    watcher: Watcher | None,
    *,
    once: str = "",
) -> None:
    """Keep the plans, with the reactor of this process."""
    names = [source for plan in plans for source in plan.sources]

    def take_report(report: RunReport) -> None:
        if not report.begun and len(names) == 1:
            end_soon()  # its error is raised below
        else:
            told(report)

    def tell_of_profile(end: CrawlEnd) -> None:
        if end.report_or_death is not None and project.profile_of(end.source):
            told(end.report_or_death)

    def end_soon() -> None:
        command.runner.begin_end()

    events = EventStream()
    launcher = InProcessLauncher(
        {name: project.sources[name] for name in names},
        events,
        told=take_report,
        show=watcher or (lambda _: None),
        interrupted=end_soon,
    )
    with store_of_command(project, plans) as store:
        launcher.runner = CrawlRunner(project, settings, launcher.look)
        anywhere = ProfileLauncher(launcher, lambda: project, WallClock())
        command = StayingCommand(
            project,
            plans,
            anywhere,
            events,
            store,
            say=say,
            crawl_ended=tell_of_profile,
            is_crawled=lambda source: _is_crawled_by_others(project, source),
        )
        launcher.runner.run(command.keep(once=once))
    if launcher.refused is not None and len(names) == 1:
        raise launcher.refused


def _is_crawled_by_others(project: Project, source: str) -> bool:
    sign = sign_of_other_crawl(project, source)
    return sign is not None and sign.pid != os.getpid()
