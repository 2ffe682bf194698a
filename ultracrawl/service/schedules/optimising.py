"""Optimises the index at its times, in a process that is ended when it takes too long."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from ultracrawl.errors import UltracrawlError
from ultracrawl.service.orders import CrawlEnd, CrawlOrder
from ultracrawl.service.parent_watch import exit_with_parent
from ultracrawl.service.schedules.plans import Plan, ScheduledRhythm, plans_of
from ultracrawl.sources import Project

OPTIMISATION = "index optimisation"
"""Its name among the schedules; no other has a blank in it."""
_PATIENCE = 5.0
"""Seconds that a process has to be gone that has said how it ended."""


@dataclass(frozen=True, slots=True)
class LimitedRhythm(ScheduledRhythm):
    """Times at which something is done that may take so many seconds."""

    limit: float | None = None

    def over_at(self, now: float) -> float | None:
        """Return when it is ended."""
        return None if self.limit is None else now + self.limit


def optimisation_plan(project: Project) -> Plan | None:
    """Return when the index of a project is optimised, None if nothing says so."""
    section = project.index.optimise
    if section is None:
        return None
    rhythm = LimitedRhythm(section.times, True, section.limit)
    return Plan(OPTIMISATION, (OPTIMISATION,), rhythm, launcher=IndexOptimiser(project))


def all_plans(project: Project) -> list[Plan]:
    """Return all that a project wants to be kept: schedules, intervals, and when its index is optimised."""
    optimisation = optimisation_plan(project)
    return [*plans_of(project), *([optimisation] if optimisation else [])]


@dataclass(frozen=True, slots=True)
class IndexOptimiser:
    """Launches optimisations as the launcher of crawls launches crawls."""

    project: Project

    async def launch(self, order: CrawlOrder) -> Optimisation:
        """Begin one."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_optimise, args=(self.project, theirs), name=OPTIMISATION, daemon=True
        )
        await asyncio.to_thread(process.start)
        theirs.close()
        return Optimisation(order, process, ours)


class Optimisation:
    """An optimisation that goes on."""

    def __init__(self, order: CrawlOrder, process: BaseProcess, ours: Connection) -> None:
        self.order = order
        self.begun = time.time()
        self._process = process
        self._ended = ""
        """Why it was ended from here."""
        self._end = asyncio.ensure_future(asyncio.to_thread(self._wait, ours))

    async def finished(self) -> CrawlEnd:
        """Return how it ended."""
        error = await asyncio.shield(self._end)
        return CrawlEnd(self.order.source, None, self._ended or error, died=bool(self._ended or error))

    async def stop_crawl(self) -> None:
        """End it: the index stays as it was."""
        self._ended = "ended before it was done; the index is as it was"
        self._process.kill()

    async def kill_crawl(self) -> None:
        """End it at once."""
        await self.stop_crawl()

    def _wait(self, ours: Connection) -> str:
        with closing(ours):
            try:
                error = str(ours.recv_bytes(), "utf-8", "replace")
            except (EOFError, OSError):
                error = "its process died"
        self._process.join(_PATIENCE)
        return error


def _optimise(project: Project, parent: Connection) -> None:
    """Optimise the index of a project, in a process of its own; tells why that failed, or nothing."""
    from ultracrawl.index.opening import open_index  # noqa: PLC0415 - loads an engine, in this process alone

    exit_with_parent()
    error = ""
    try:
        with closing(open_index(project)) as index:
            index.optimise()
    except UltracrawlError as failure:
        error = str(failure)
    parent.send_bytes(error.encode())
