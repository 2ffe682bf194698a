"""The logs that a crawl writes: of the run itself, of links that were excluded, of single events."""

from __future__ import annotations

import copy
import logging
from typing import TYPE_CHECKING

from scrapy.utils.log import get_scrapy_root_handler

from ultracrawl.crawl.hooks import Feature
from ultracrawl.crawl.logs.appended import AppendedLog, TimedLog, log_path
from ultracrawl.crawl.logs.candidate_logs import (
    CandidateLog,
    ExcludedLinksLog,
    candidates_path,
    excluded_path,
)
from ultracrawl.crawl.logs.event_logs import EventLogs
from ultracrawl.crawl.logs.robot_log import LogLevel, RobotLog
from ultracrawl.crawl.logs.run_log import RunLog
from ultracrawl.errors import WorkError
from ultracrawl.settings.presets import WATCHED

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.portal_filters.filtering import Filtering


class CrawlLogs(Feature):
    """Opens, writes and closes the logs that a source keeps; one that cannot be written never ends a crawl."""

    def __init__(self, context: CrawlContext, settings: BaseSettings, filtering: Filtering | None) -> None:
        self._context = context
        self._settings = settings
        self._filtering = filtering
        self.events = EventLogs(context)
        """The logs of single events that the source keeps."""
        self._groups: list[list[AppendedLog]] = []
        """Logs that are given up together."""
        self.excluded: ExcludedLinksLog | None = None
        """The log of links that were excluded, if the source keeps one."""
        self.run: RunLog | None = None
        """The log of this run, if the source keeps any."""
        self.robot: RobotLog | None = None
        """The log of what the robot does, if the source keeps one."""

    def open(self) -> None:
        """Begin the logs; if that cannot be, the crawl goes on and says so."""
        leave_tracebacks_out(self._settings)
        context = self._context
        kept = context.source.log
        self.events.open()
        if kept.robot is not None and self._filtering is not None:
            self._open_robot(kept.robot)
        if kept.screened:
            path = excluded_path(context.project, context.source.name)
            self.excluded = ExcludedLinksLog(path, context.project.logs.size, context.clock)
            self._groups.append([self.excluded])
        if kept.candidates and not context.run.replay:
            self._open_candidates()
        if not kept.runs:
            return
        try:
            self.run = RunLog(context.project, context.source.name, kept.runs, context.clock)
        except WorkError as error:
            context.run.note_problem(error)
            return
        self._groups.append([self.run])
        self.run.started(context.report)
        context.hooks.visit_ended.append(self.run.note_visit)

    def _open_candidates(self) -> None:
        """Begin the log of all candidates; without it nobody takes part in the hook that it hears."""
        context = self._context
        path = candidates_path(context.project, context.source.name)
        log = CandidateLog(path, context.project.logs.size, context.clock)
        log.begin(context.mark.number, context.rules.boundary, context.source.limits)
        context.hooks.candidate_judged.append(log.add)
        self._groups.append([log])

    def _open_robot(self, level: int) -> None:
        """Begin `robot.log` and `filter.log`."""
        from ultracrawl.crawl.logs.filter_log import FilterLog  # noqa: PLC0415 - loads all of the filters

        context, filtering = self._context, self._filtering
        assert filtering is not None
        project, source = context.project, context.source.name
        done, decisions = (
            TimedLog(log_path(project, source, name), project.logs.size, context.clock)
            for name in ("robot", "filter")
        )
        self._groups.append([done, decisions])
        self.robot = RobotLog(done, level)
        filtering.listener = FilterLog(decisions, filtering.robot.log_types, context.mark.number)
        filtering.robot.send_log_to(self.robot.error)
        for doubt in filtering.doubts:
            self.robot.say(LogLevel.ERRORS, doubt)
        context.hooks.visit_ended.append(self.robot.note_visit)

    def seed_excluded(self, url: str, rule: str) -> None:
        """Note a start URL that no rule lets in; it stands in no page."""
        if self.excluded is not None:
            self.excluded.add(url, rule, "")

    def candidate_excluded(self, url: str, rule: str, parent: str, message: str) -> None:
        """Note a link that was excluded, with the number and text of its message."""
        if self.excluded is not None:
            self.excluded.add(url, rule, parent)
        if self.run is not None and message:
            self.run.link_excluded(url, rule, message)

    def after_flush(self) -> None:
        """Write what was noted; a log that cannot be written is given up."""
        alone: list[list[AppendedLog]] = [[log] for log in self.events.logs]
        for group in alone + self._groups:
            try:
                for log in group:
                    log.flush()
            except WorkError as error:
                for log in group:
                    log.given_up = True
                self._context.run.note_problem(error)

    def close(self, reason: str) -> None:
        """Write the results of the run under its log."""
        if self.run is not None:
            self.run.results(self._context.report, reason)
        self.events.note_run_end()
        self.after_flush()
        if self.run is not None:
            self.run.close()
        if self._filtering is not None:
            self._filtering.remove_listener()

    def say_error(self, text: str) -> None:
        """Have the robot tell of an error, if the source keeps its log."""
        if self.robot is not None:
            self.robot.say(LogLevel.ERRORS, text)


def leave_tracebacks_out(settings: BaseSettings) -> None:
    """Show exceptions by name and text, if it is our own command that logs, to the screen and errors only.

    What nobody sees is not made then: Scrapy has every line made, and its handler drop it. It installs that anew for
    each crawl, before the engine is made.
    """
    handler = get_scrapy_root_handler()
    if handler is None or not settings.getbool(WATCHED):
        return
    quiet = settings["LOG_LEVEL"] in ("ERROR", "CRITICAL") and not settings["LOG_FILE"]
    # The log of the run has warnings.
    logging.getLogger("ultracrawl").setLevel(logging.WARNING if quiet else logging.NOTSET)
    if quiet:
        handler.setFormatter(_OneLine(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"]))


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return a record with its exception in the same line (logging's protocol)."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return super().format(record)
        line = copy.copy(record)
        line.msg, line.args = f"{record.getMessage()}: {type(error).__name__}: {error}", ()
        line.exc_info = line.exc_text = None
        return super().format(line)
