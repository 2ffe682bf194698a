"""A robot: a process that outlives its runs and takes orders from other processes (portal robot 13)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from scrapy.crawler import Crawler

from ultracrawl.crawl import RunningCrawl
from ultracrawl.crawl.portal_filters.filtering import Filtering
from ultracrawl.errors import UserError
from ultracrawl.model import RunReport
from ultracrawl.service.completion import WriteLine, complete, robot_log_writer
from ultracrawl.service.control import robot_sign
from ultracrawl.service.run import WATCH_INTERVAL, CrawlRunner
from ultracrawl.service.schedules.plans import REST, REST_AFTER_FAILURE
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.control_channel import Command, ControlChannel, Phase
from ultracrawl.stores.opening import robot_file

ReportListener = Callable[[RunReport], None]


def run_robot(
    project: Project, source: DataSource, *, on_report: ReportListener, settings: dict[str, Any] | None = None
) -> None:
    """Run the robot of a source until it is stopped, or its runs are over; `on_report` gets the report of each run.

    What comes after a run is up to `completion.then`. SIGINT ends it as `ultracrawl robot stop` does. Raises
    `UserError` if it is running already, or the source is being crawled.
    """
    file = robot_file(project, source.name)
    if file is None:
        raise UserError("a robot needs a state on disk; write `state: {engine: sqlite}`")
    if robot_sign(project, source.name) is not None:
        raise UserError(f"the robot of {source.name!r} is running already")
    file.parent.mkdir(parents=True, exist_ok=True)
    post = ControlChannel(file)
    try:
        Robot(project, source, post, on_report, settings or {}).run()
    finally:
        post.close()


class Robot:
    """The life of a robot: its runs, and what it does between them."""

    def __init__(
        self,
        project: Project,
        source: DataSource,
        post: ControlChannel,
        on_report: ReportListener,
        settings: dict[str, Any],
    ) -> None:
        self._source = source
        self._post = post
        self._on_report = on_report
        self._say: WriteLine = robot_log_writer(project, source)
        self._runner = CrawlRunner(project, settings, self._pass_on)
        self._order: Command | None = None
        """What is to be done once the run has ended: STOP or RESTART."""
        self._filtering = Filtering(source.filters, time.time, source.conversion.timeout, kept=True)

    def run(self) -> None:
        """Run until an order or the last run ends the robot. Raises the error that ended it, if one did."""
        try:
            self._runner.run(self._live())
        finally:
            self._filtering.release()

    async def _live(self) -> None:
        goes_on = True
        while goes_on:
            self._order = None
            self._post.publish_phase(Phase.RUNNING)
            crawl = await self._runner.crawl(self._source, filtering=self._filtering)
            self._on_report(crawl.context.report)
            goes_on = await self._after(crawl)
        self._say("Workload complete.")

    async def _after(self, crawl: RunningCrawl) -> bool:
        """Do what comes after a run; return whether there is another one."""
        if self._order is not None:
            return self._again(self._order)
        report = crawl.context.report
        if report.interrupted or crawl.is_last:
            return False
        if crawl.restarts:
            return self._again(Command.RESTART)
        await complete(crawl)
        match self._source.completion.then:
            case "loop":
                order = await self._rest(REST_AFTER_FAILURE if report.failed else REST)
                return self._again(order or Command.RESTART)
            case "idle":
                self._say("Robot is idle....")
                return self._again(await self._rest())
            case _:
                return False

    def _again(self, order: Command | None) -> bool:
        if order is Command.RESTART:
            self._say("Restart Robot.")
        return order is Command.RESTART

    async def _rest(self, seconds: float | None = None) -> Command | None:
        """Wait for an order to stop or to run again, at most some seconds; while it is paused the time stands still."""
        self._post.publish_phase(Phase.IDLE)
        left = seconds
        while left is None or left > 0:
            match self._post.pop_order():
                case Command.PAUSE:
                    self._post.publish_phase(Phase.PAUSED)
                case Command.RESUME:
                    self._post.publish_phase(Phase.IDLE)
                case Command() as order:
                    return order
            await asyncio.sleep(WATCH_INTERVAL)
            if left is not None and self._post.phase is Phase.IDLE:
                left -= WATCH_INTERVAL
        return None

    async def _pass_on(self, _crawler: Crawler, crawl: RunningCrawl) -> None:
        """Pass orders on to the run."""
        order = self._post.pop_order()
        if order in (Command.STOP, Command.RESTART):
            self._order = order
            crawl.give_order(Command.STOP)
        elif order is not None:
            crawl.give_order(order)
