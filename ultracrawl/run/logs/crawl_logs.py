"""The feature that opens, writes and closes the logs of a crawl."""

from __future__ import annotations

import copy
import logging
import os
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from scrapy.utils.log import get_scrapy_root_handler

from ultracrawl.errors import WorkError
from ultracrawl.run.hooks import Feature
from ultracrawl.run.logs.candidate_logs import (
    CandidateLog,
    ExcludedLinksLog,
    candidates_path,
    excluded_path,
)
from ultracrawl.run.logs.event_logs import FeedLog, FetchLog, HeaderLog, ItemLog, ScoreLog, SiteLog
from ultracrawl.run.logs.log_files import (
    AppendedLog,
    ColumnLog,
    ElementLog,
    TimedLog,
    folder_error,
    log_path,
    printable,
)
from ultracrawl.run.logs.robot_log import RobotLog
from ultracrawl.run.logs.run_log import RunLog
from ultracrawl.run.run_counters import PROBLEM_LOGGER
from ultracrawl.settings.presets import REPORTED_SETTING, WATCHED_SETTING
from ultracrawl.system.files import cause_and_remedy

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from scrapy.settings import BaseSettings

    from ultracrawl.rules.filters.function import Robot
    from ultracrawl.run.context import CrawlContext


L = TypeVar("L", bound=AppendedLog)


class LoggedFilters(Protocol):
    """The filters of a source, as far as their logs need them."""

    listener: Any
    """Called for each directive and resource; None if nothing is logged."""

    @property
    def robot(self) -> Robot:
        """The state that the filters share."""

    @property
    def doubts(self) -> Sequence[str]:
        """Statements in the filter files that have no effect, a sentence each."""

    def remove_listener(self) -> None:
        """Stop calling the listener: the logs of the run are closed."""


class CrawlLogs(Feature):
    """Opens, writes and closes the logs that a source has switched on; write errors never end a begun crawl.

    Each log is a feature of its own; logs of one group are given up together after a write error.
    """

    def __init__(self, context: CrawlContext, settings: BaseSettings) -> None:
        self._context = context
        self._settings = settings
        self._groups: list[list[AppendedLog]] = []
        self._numbers: dict[AppendedLog, int] = {}
        """Lines of logs about what the flush makes durable that was begun last."""
        self._run: RunLog | None = None
        self._sites: SiteLog | None = None
        self._filtering: LoggedFilters | None = None

    def check_folder(self) -> None:
        """Raise `WorkError` if the source has logs and their folder cannot be written (Ultra Search 3.1)."""
        folder = self._context.project.logs.path
        if not self._context.source.log.writes_files:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with os.scandir(folder):
                pass
        except OSError as error:
            raise folder_error(folder, cause_and_remedy(error)) from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise folder_error(folder, "the crawling account may not write there")

    # ---- the logs

    def open_fetch_log(self) -> FetchLog:
        """Return the log of downloads."""
        return FetchLog(self._columns("fetch"))

    def open_item_log(self) -> ItemLog:
        """Return the log of decisions about items."""
        is_xml = self._context.source.log.postprocess == "xml"
        return ItemLog(self._open(ElementLog, "postprocess") if is_xml else self._columns("postprocess"))

    def open_header_log(self) -> HeaderLog:
        """Return the log of request and response headers."""
        own = (name for entry in self._context.source.site_headers.values() for name in entry.headers)
        return HeaderLog(self._columns("header"), own)

    def open_score_log(self) -> ScoreLog | None:
        """Return the log of the choices of adaptive refreshing; None if it is off."""
        return ScoreLog(self._columns("scheduler")) if self._context.source.log.scheduler else None

    def open_feed_log(self) -> FeedLog | None:
        """Return the log of index changes; None if it is off."""
        context = self._context
        return FeedLog(self._columns("dsfeed"), context.source.name) if context.source.log.dsfeed else None

    def open_site_log(self, given_up: Container[str]) -> SiteLog | None:
        """Return the log of sites that get or lose their slot; None if it is off."""
        context = self._context
        if not context.source.log.site or context.run.replay:
            return None
        run = context.mark.number

        def known(site: str) -> bool:
            return run > 1 and context.store.sites.get_site(site) is not None

        self._sites = SiteLog(self._columns("site"), known, given_up)
        return self._sites

    def open_run_log(self) -> RunLog:
        """Return the log of this run."""
        context = self._context
        self._run = RunLog(
            context.project,
            context.source.name,
            context.source.log.runs,
            context.clock,
            lambda: context.report,
        )
        self._groups.append([self._run])
        return self._run

    def open_excluded_log(self) -> ExcludedLinksLog:
        """Return the log of excluded links."""
        context = self._context
        path = excluded_path(context.project, context.source.name)
        log = ExcludedLinksLog(path, context.project.logs.size, context.clock)
        self._groups.append([log])
        return log

    def open_candidate_log(self) -> CandidateLog:
        """Return the log of candidates; its hook `candidate_judged` costs time."""
        context = self._context
        path = candidates_path(context.project, context.source.name)
        log = CandidateLog(path, context.project.logs.size, context.clock)
        log.begin(context.mark.number, context.rules.boundary, context.rules.traps)
        self._groups.append([log])
        return log

    def open_robot_log(self, filtering: LoggedFilters) -> RobotLog:
        """Open `robot.log`, which is returned, and `filter.log`."""
        from ultracrawl.run.logs.filter_log import FilterLog  # noqa: PLC0415 - imports all filter modules

        context = self._context
        self._filtering = filtering
        actions, decisions = (
            TimedLog(
                log_path(context.project, context.source.name, name), context.project.logs.size, context.clock
            )
            for name in ("robot", "filter")
        )
        self._groups.append([actions, decisions])
        log = RobotLog(actions, context.source.log.robot or 0)
        filtering.listener = FilterLog(decisions, filtering.robot.log_types, context.mark.number)
        filtering.robot.send_log_to(log.log_filter_error)
        for doubt in filtering.doubts:
            log.log_error(doubt)
        return log

    def _columns(self, name: str) -> ColumnLog:
        return self._open(ColumnLog, name)

    def _open(self, kind: type[L], name: str) -> L:
        project, source = self._context.project, self._context.source
        path = log_path(project, source.name, name)
        log = kind(path, project.logs.size, self._context.clock, source.log.days)
        self._groups.append([log])
        return log

    # ---- writing

    def opened(self) -> None:
        """Shorten what a watched command shows of exceptions."""
        omit_tracebacks(self._settings)

    def before_flush(self) -> None:
        """Note which lines are about what the flush makes durable."""
        self._numbers = {log: log.collected for group in self._groups for log in group}

    def after_flush(self) -> None:
        """Write these lines; a log that cannot be written is given up."""
        numbers, self._numbers = self._numbers, {}
        for group in self._groups:
            try:
                for log in group:
                    log.flush(numbers.get(log, 0))
            except WorkError as error:
                for log in group:
                    log.given_up = True
                self._context.run.note_problem(error)

    def close(self, reason: str) -> None:
        """Append the results of the run to its log and write all logs."""
        if self._run is not None:
            self._run.note_results(reason)
        if self._sites is not None:
            self._sites.note_run_end()
        self.before_flush()
        self.after_flush()
        if self._run is not None:
            self._run.close()
        if self._filtering is not None:
            self._filtering.remove_listener()


def omit_tracebacks(settings: BaseSettings) -> None:
    """Log exceptions as one line if our own command runs the crawl and logs only errors, to the screen.

    Then also raises the level of our logger, because Scrapy formats every record before its handler drops it. Scrapy
    installs the handler for each crawl, before the engine is created.
    """
    handler = get_scrapy_root_handler()
    if handler is None or not settings.getbool(WATCHED_SETTING):
        return
    quiet = settings["LOG_LEVEL"] in ("ERROR", "CRITICAL") and not settings["LOG_FILE"]
    # The log of the run needs warnings.
    logging.getLogger("ultracrawl").setLevel(logging.WARNING if quiet else logging.NOTSET)
    if quiet:
        handler.setFormatter(_OneLineFormatter(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"]))
        if settings.getbool(REPORTED_SETTING):
            handler.addFilter(lambda record: record.name != PROBLEM_LOGGER.name)


class _OneLineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Format a record with its exception on the same line."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return super().format(record)
        line = copy.copy(record)
        line.msg, line.args = printable(f"{record.getMessage()}: {type(error).__name__}: {error}"), ()
        line.exc_info = line.exc_text = None
        return super().format(line)
