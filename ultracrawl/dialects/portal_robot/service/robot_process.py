"""A robot: a long-running process that repeats runs and takes commands from other processes (portal robot 13)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from ultracrawl.errors import UltracrawlError, UserError
from ultracrawl.model import RunReport
from ultracrawl.run import RunningCrawl
from ultracrawl.run.filters.filtering import Filtering
from ultracrawl.service.completion import WriteLine, complete, robot_log_writer
from ultracrawl.service.control import robot_process_status
from ultracrawl.service.run import WATCH_INTERVAL, Run, crawl_repeatedly, crawler_process, run_reactor
from ultracrawl.service.schedules.plans import REST, REST_AFTER_FAILURE
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.control_channel import Command, ControlChannel, Phase
from ultracrawl.stores.project_stores import robot_notes

ReportListener = Callable[[RunReport], None]
Reload = Callable[[], tuple[Project, DataSource]]
"""Reads the definition as it is now. Raises `UserError` if it has mistakes."""


def run_robot(
    project: Project,
    source: DataSource,
    *,
    on_report: ReportListener,
    reload: Reload,
    settings: dict[str, Any] | None = None,
) -> None:
    """Run the robot of a source until it is stopped, or its runs are over; `on_report` gets the report of each run.

    `completion.then` decides what follows a run. `restart` and `reload` take the definition as it is then. SIGINT ends
    the robot as `ultracrawl robot stop` does. Raises `UserError` if it is running already, or the source is being
    crawled.
    """
    notes = robot_notes(project, source.name)
    if notes is None:
        raise UserError("a robot needs a state on disk; write `state: {engine: sqlite}`")
    if robot_process_status(project, source.name) is not None:
        raise UserError(f"the robot of {source.name!r} is running already")
    post = ControlChannel(notes)
    try:
        Robot(project, source, post, on_report, reload, settings or {}).run()
    finally:
        post.close()


class Robot:
    """Runs the crawls of a robot, and handles commands during and between them."""

    def __init__(
        self,
        project: Project,
        source: DataSource,
        post: ControlChannel,
        on_report: ReportListener,
        reload: Reload,
        settings: dict[str, Any],
    ) -> None:
        self._project, self._source = project, source
        self._post = post
        self._on_report = on_report
        self._reload = reload
        self._write_line: WriteLine = robot_log_writer(project, source)
        self._settings = settings
        self._order: Command | None = None
        """STOP, RESTART or RELOAD, to be carried out after the run."""
        self._filtering = _filtering(source)

    def run(self) -> None:
        """Run until a command or the last run ends the robot. Raises the error that ended it, if there was one."""
        process = crawler_process(self._settings)
        try:
            run_reactor(process, crawl_repeatedly(process, self._next_run(), self._pass_on, self._follow))
        finally:
            self._filtering.release()

    def _next_run(self) -> Run:
        self._order = None
        self._post.publish_phase(Phase.RUNNING)
        return Run(self._project, self._source, filtering=self._filtering)

    async def _follow(self, crawl: RunningCrawl) -> Run | None:
        self._on_report(crawl.context.report)
        if await self._after_run(crawl):
            return self._next_run()
        self._write_line("Workload complete.")
        return None

    async def _after_run(self, crawl: RunningCrawl) -> bool:
        """Run the completion command, wait for the next run, and return whether there is one."""
        report, finished = crawl.context.report, bool(crawl.context.mark.finished)
        await complete(crawl)
        if self._order is Command.RELOAD:
            self._load(in_run=not finished)
            if not finished:
                return True
        elif self._order is not None:
            return self._carry_out(self._order)
        elif report.interrupted or crawl.is_last:
            return False
        if crawl.restarts:
            return self._again()
        match self._source.completion.then:
            case "loop":
                order = await self._rest(REST_AFTER_FAILURE if report.failed else REST)
                return self._carry_out(order) if order else self._again()
            case "idle":
                self._write_line("Robot is idle....")
                return self._carry_out(await self._rest())
            case _:
                return False

    def _again(self) -> bool:
        """Begin another run with the same files."""
        self._write_line("Restart Robot.")
        return True

    def _carry_out(self, order: Command | None) -> bool:
        """Carry out an order that ended a run or a rest; returns whether the robot crawls on."""
        if order is not Command.RESTART:
            return False
        self._load(in_run=False)
        return self._again()

    def _load(self, *, in_run: bool) -> None:
        """Take the definition as it is now, for the rest of the run (`in_run`) or the next one.

        If it has mistakes, which the sender of the order has been told, the former one stays in force.
        """
        try:
            project, source = self._reload()
            filtering = _filtering(source)
        except UltracrawlError as error:
            self._write_line(f"The files have mistakes; the former ones stay in force: {error}")
            return
        if source.name != self._source.name:
            self._write_line(f"The files define the robot {source.name} now; the former ones stay in force")
            return
        filtering.take_over(self._filtering, in_run=in_run)
        self._filtering, self._project, self._source = filtering, project, source
        self._write_line("Files loaded.")

    async def _rest(self, seconds: float | None = None) -> Command | None:
        """Wait for STOP or RESTART, at most some seconds; paused time does not count."""
        self._post.publish_phase(Phase.IDLE)
        left = seconds
        while left is None or left > 0:
            match self._post.pop_order():
                case Command.PAUSE:
                    self._post.publish_phase(Phase.PAUSED)
                case Command.RESUME:
                    self._post.publish_phase(Phase.IDLE)
                case Command.RELOAD:
                    self._load(in_run=False)
                case Command() as order:
                    return order
            await asyncio.sleep(WATCH_INTERVAL)
            if left is not None and self._post.phase is Phase.IDLE:
                left -= WATCH_INTERVAL
        return None

    def _pass_on(self, crawl: RunningCrawl) -> None:
        """Pass commands on to the run."""
        order = self._post.pop_order()
        if order in (Command.STOP, Command.RESTART, Command.RELOAD):
            self._order = order
            crawl.give_order(Command.STOP)
        elif order is not None:
            crawl.give_order(order)


def _filtering(source: DataSource) -> Filtering:
    """Return the filters of a robot, which outlive its runs. Raises `UserError` if they cannot be used."""
    return Filtering(source.filters, time.time, source.conversion.timeout, kept=True)
