"""Runs the completion command of a source after a run, and logs it in the robot's log (portal robot 13.3)."""

from __future__ import annotations

import asyncio
import logging
import shlex
import time
from collections.abc import Callable
from dataclasses import replace

from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.run import RunningCrawl
from ultracrawl.run.filters.programs import Programs
from ultracrawl.run.logs.log_files import TimedLog, log_path
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.completion import CompletedRun
from ultracrawl.system.files import cause_and_remedy

logger = logging.getLogger(__name__)

WriteLine = Callable[[str], None]


def robot_log_writer(
    project: Project, source: DataSource, clock: Callable[[], float] = time.time
) -> WriteLine:
    """Return a function that writes a line into the robot's log, or the program's log if the source has none."""
    if source.log.robot is None:
        return logger.info
    log = TimedLog(log_path(project, source.name, "robot"), project.logs.size, clock)

    def write_line(text: str) -> None:
        log.add(text)
        try:
            log.flush()
        except WorkError as error:
            logger.warning("%s", error)

    return write_line


def registered(report: RunReport) -> int:
    """Return the number of descriptions that a run has registered, in all its parts if it was resumed."""
    return sum(report.outcomes[outcome] + report.outcomes_before[outcome] for outcome in SUBMITTED)


def run_command(source: DataSource, report: RunReport, write_line: WriteLine) -> str:
    """Run the completion command of a source and wait for it, if `completion.after` matches the run.

    Not after an interrupted run. Environment variables describe the source and the run. The exit status is logged and
    has no other effect. Returns why it could not be run, empty if it was.
    """
    section = source.completion
    if not section.command or report.interrupted or not kinds_of(report) & frozenset(section.after):
        return ""
    command = shlex.join(section.command)
    write_line(f"Run cmd: {command}")
    try:
        result = Programs(section.programs).run(
            section.command, section.timeout, _environment(source, report)
        )
    except OSError as error:
        write_line(f"Complete cmd: {command} (could not be run: {error})")
        return f"the completion command could not be run: {cause_and_remedy(error)}; correct `completion.command`"
    write_line(f"Complete cmd: {command} ({result})")
    for line in result.printed.splitlines() if result.code else ():
        write_line(f"  {line}")
    return ""


def kinds_of(report: RunReport) -> frozenset[CompletedRun]:
    """Return the values of `completion.after` that match a run."""
    kinds = {CompletedRun.DOCUMENTS} if registered(report) else set()
    if report.problems:
        kinds.add(CompletedRun.FAILURE)
    return frozenset(kinds or {CompletedRun.NOTHING_NEW})


def _environment(source: DataSource, report: RunReport) -> dict[str, str]:
    return {
        "ULTRACRAWL_SOURCE": source.name,
        "ULTRACRAWL_RUN": report.run_id,
        "ULTRACRAWL_REGISTERED": str(registered(report)),
        "ULTRACRAWL_RESULT": "failed" if report.problems else "done",
        "ULTRACRAWL_FETCHED": str(report.fetched),
        "ULTRACRAWL_INDEXED": str(report.indexed),
        "ULTRACRAWL_DELETED": str(report.deleted),
        "ULTRACRAWL_PROBLEM": next(iter(report.problems), ""),
    }


async def complete(crawl: RunningCrawl) -> str:
    """Run the completion command in a thread; not if a filter function has aborted the run.

    A run that was stopped when nothing was left to do is over like any other. Returns why its
    command could not be run, empty if it was.
    """
    if crawl.restarts or crawl.is_last:
        return ""
    context = crawl.context
    report = replace(context.report, interrupted=context.report.interrupted and not context.mark.finished)
    write_line = robot_log_writer(context.project, context.source)
    return await asyncio.to_thread(run_command, context.source, report, write_line)


async def complete_failed_start(project: Project, source: DataSource, error: Exception) -> None:
    """Run the completion command for a run that could not start."""
    if source.completion.command:
        write_line = robot_log_writer(project, source)
        await asyncio.to_thread(run_command, source, RunReport.not_begun(source.name, error), write_line)
