"""Scheduled optimisation of the index, in a child process with a time limit."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UltracrawlError
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, CrawlProgress
from ultracrawl.service.schedules.plans import Plan, ScheduleTiming, plans_of
from ultracrawl.sources import Project
from ultracrawl.system.parent_watch import exit_with_parent

OPTIMISATION = "index optimisation"
"""Its name among the schedules; names of other schedules have no blank."""
_JOIN_TIMEOUT = 5.0
"""Seconds to wait for the exit of a process that has sent its result."""


@dataclass(frozen=True, slots=True)
class LimitedTiming(ScheduleTiming):
    """The times of a schedule whose runs have a time limit in seconds."""

    limit: float | None = None

    def over_at(self, begun: float) -> float | None:
        """Return when a run that begins then is ended; None without a limit."""
        return None if self.limit is None else begun + self.limit


def optimisation_plan(project: Project) -> Plan | None:
    """Return the plan for optimising the index of a project; None if its definition has none."""
    section = project.index.optimise
    if section is None:
        return None
    timing = LimitedTiming(section.times, True, section.limit)
    return Plan(OPTIMISATION, (OPTIMISATION,), timing, launcher=IndexOptimiser(project))


def all_plans(project: Project) -> list[Plan]:
    """Return all plans of a service: schedules, intervals, and the optimisation of the index."""
    optimisation = optimisation_plan(project)
    return [*plans_of(project, by_default=True), *([optimisation] if optimisation else [])]


@dataclass(frozen=True, slots=True)
class IndexOptimiser:
    """A launcher of optimisations, with the interface of launchers of crawls."""

    project: Project

    async def launch(self, order: CrawlOrder) -> Optimisation:
        """Start an optimisation."""
        context = multiprocessing.get_context("spawn")
        parent_end, child_end = context.Pipe()
        process = context.Process(
            target=_optimise, args=(self.project, child_end), name=OPTIMISATION, daemon=True
        )
        await asyncio.to_thread(process.start)
        child_end.close()
        return Optimisation(order, process, parent_end)


class Optimisation:
    """A running optimisation (a `CrawlHandle`)."""

    def __init__(self, order: CrawlOrder, process: BaseProcess, pipe: Connection) -> None:
        self.order = order
        self.begun = time.time()
        self.progress = CrawlProgress()
        self._process = process
        self._end_reason = ""
        """Why this process has ended it."""
        self._end = asyncio.ensure_future(asyncio.to_thread(self._wait, pipe))

    async def finished(self) -> CrawlEnd:
        """Wait for the end and return it."""
        error = await asyncio.shield(self._end)
        error = self._end_reason or error
        return CrawlEnd(self.order.source, None, error, died=bool(error))

    async def stop_crawl(self) -> None:
        """Kill the process; the index stays as it was."""
        self._end_reason = "ended before it was done; the index is as it was"
        self._process.kill()

    async def kill_crawl(self) -> None:
        """Kill the process."""
        await self.stop_crawl()

    def _wait(self, pipe: Connection) -> str:
        with closing(pipe):
            try:
                error = str(pipe.recv_bytes(), "utf-8", "replace")
            except (EOFError, OSError):
                error = "its process died"
        self._process.join(_JOIN_TIMEOUT)
        return error


def _optimise(project: Project, parent: Connection) -> None:
    """Optimise the index of a project in this child process; sends the error to the parent, empty if there is none."""
    from ultracrawl.index.project_index import open_index  # noqa: PLC0415 - only this process loads an engine

    exit_with_parent()
    error = ""
    try:
        with closing(open_index(project)) as index:
            index.optimise()
    except UltracrawlError as failure:
        error = str(failure)
    parent.send_bytes(error.encode())
