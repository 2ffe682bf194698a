"""`crawl --continuous` in one process: runs schedules and intervals, one source at a time, until it is stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlEnd, EventStream, WallClock
from ultracrawl.service.run import CrawlRunner, Watcher
from ultracrawl.service.schedules.in_process import InProcessLauncher
from ultracrawl.service.schedules.plans import Plan, plans_of
from ultracrawl.service.schedules.runner_command import RunnerCommand, open_command_store, wanted_plans
from ultracrawl.service.scrapyd.launcher import ProfileLauncher, status_of_other_crawl
from ultracrawl.sources import DataSource, Project


def run_continuously(
    project: Project,
    sources: Iterable[DataSource],
    *,
    on_report: Callable[[RunReport], None],
    write_line: Callable[[str], None] = lambda _: None,
    force: bool = False,
    settings: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Crawl each source when it is due, until SIGINT; `on_report` gets the report of each run.

    A source is due by its schedule, or by its own interval: cycle k starts k intervals after the first, which may have
    been run by an earlier process; missed cycles are skipped (FAST 5.1 J60). With `refresh.when_idle` a cycle follows
    the previous one at once (J62). One source is crawled at a time, in the order of the due times. A crawl that is
    still running when its cycle is over is ended. `write_line` gets a line about the next run. Raises `UserError` for a
    source with neither schedule nor interval. If one of several sources cannot start, its report has the reason and it
    is tried again; a single source raises its error.
    """
    project, plans = wanted_plans(project, list(sources), force=force)
    _run_in_process(project, plans, on_report, write_line, settings, watcher)


def launch_here(
    project: Project,
    name: str,
    *,
    on_report: Callable[[RunReport], None],
    settings: dict[str, Any] | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Run a schedule once, now, in this process; `on_report` gets the report of each run.

    Raises `UserError`, `WorkError` if it cannot be launched.
    """
    plans = [
        replace(plan, enabled=False)  # its times are of no account here: what is done is not launched again
        for plan in plans_of(project)
        if plan.name == name and not plan.own
    ]
    _run_in_process(project, plans, on_report, lambda _: None, settings, watcher, once=name)


def _run_in_process(
    project: Project,
    plans: Sequence[Plan],
    on_report: Callable[[RunReport], None],
    write_line: Callable[[str], None],
    settings: dict[str, Any] | None,
    watcher: Watcher | None,
    *,
    once: str = "",
) -> None:
    """Run the plans with the reactor of this process; with `once` only that schedule, once."""
    names = [source for plan in plans for source in plan.sources]

    def take_report(report: RunReport) -> None:
        if not report.begun and len(names) == 1:
            end_soon()  # its error is raised below
        else:
            on_report(report)

    def pass_remote_report(end: CrawlEnd) -> None:
        if end.report_or_death is not None and project.profile_of(end.source):
            on_report(end.report_or_death)

    def end_soon() -> None:
        command.runner.begin_end()

    events = EventStream()
    launcher = InProcessLauncher(
        {name: project.sources[name] for name in names},
        events,
        on_report=take_report,
        show=watcher or (lambda _: None),
        interrupted=end_soon,
    )
    with open_command_store(project, plans) as (store, _):
        launcher.runner = CrawlRunner(project, settings, launcher.look)
        profile_launcher = ProfileLauncher(launcher, lambda: project, WallClock())
        command = RunnerCommand(
            project,
            plans,
            profile_launcher,
            events,
            store,
            write_line=write_line,
            crawl_ended=pass_remote_report,
            is_crawled=lambda source: _is_crawled_by_others(project, source),
        )
        launcher.runner.run(command.run(once=once))
    if launcher.refused is not None and len(names) == 1:
        raise launcher.refused


def _is_crawled_by_others(project: Project, source: str) -> bool:
    status = status_of_other_crawl(project, source)
    return status is not None and status.pid != os.getpid()
