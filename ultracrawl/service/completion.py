"""The end of a run: runs the program that the source names, and notes that in the robot's log (portal robot 13.3)."""

from __future__ import annotations

import asyncio
import logging
import shlex
import time
from collections.abc import Callable

from ultracrawl.crawl import RunningCrawl
from ultracrawl.crawl.logs.log_files import TimedLog, log_path
from ultracrawl.crawl.portal_filters.programs import Programs
from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport, UrlOutcome
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.completion import CompletedRun

logger = logging.getLogger(__name__)

_REGISTERED = (UrlOutcome.NEW, UrlOutcome.MODIFIED)

Say = Callable[[str], None]


def robot_voice(project: Project, source: DataSource, clock: Callable[[], float] = time.time) -> Say:
    """Return what adds a line to the log of a robot between its runs; for a source without one, to the program's."""
    if source.log.robot is None:
        return logger.info
    log = TimedLog(log_path(project, source.name, "robot"), project.logs.size, clock)

    def say(text: str) -> None:
        log.add(text)
        try:
            log.flush()
        except WorkError as error:
            logger.warning("%s", error)

    return say


def registered(report: RunReport) -> int:
    """Return how many descriptions a run registered."""
    return sum(report.outcomes[outcome] for outcome in _REGISTERED)


def run_command(source: DataSource, report: RunReport, say: Say) -> None:
    """Run the command of a source after one of its runs, if it is for such runs, to its end.

    It is not run after a run that was interrupted. The environment tells it of which source and run, and what came of
    it; how it ends is told and changes nothing.
    """
    section = source.completion
    if not section.command or report.interrupted or not kinds_of(report) & frozenset(section.after):
        return
    command = shlex.join(section.command)
    say(f"Run cmd: {command}")
    try:
        ended = Programs(section.programs).run(section.command, section.timeout, _facts(source, report))
    except OSError as error:
        say(f"Complete cmd: {command} (could not be run: {error})")
        return
    say(f"Complete cmd: {command} ({ended})")
    for line in ended.printed.splitlines() if ended.code else ():
        say(f"  {line}")


def kinds_of(report: RunReport) -> frozenset[CompletedRun]:
    """Return what a run is for `completion.after`."""
    kinds = {CompletedRun.DOCUMENTS} if registered(report) else set()
    if report.problems:
        kinds.add(CompletedRun.FAILURE)
    return frozenset(kinds or {CompletedRun.NOTHING_NEW})


def _facts(source: DataSource, report: RunReport) -> dict[str, str]:
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


async def complete(crawl: RunningCrawl) -> None:
    """Do what `run_command` does, in a thread; a run that a function of the filters broke off is not complete."""
    if not (crawl.restarts or crawl.ends_all):
        say = robot_voice(crawl.context.project, crawl.context.source)
        await asyncio.to_thread(run_command, crawl.context.source, crawl.context.report, say)


async def complete_refused(project: Project, source: DataSource, error: Exception) -> None:
    """Do the same for a run that could not begin."""
    if source.completion.command:
        say = robot_voice(project, source)
        await asyncio.to_thread(run_command, source, RunReport.not_begun(source.name, error), say)
