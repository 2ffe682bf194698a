"""The feature that opens, writes and closes the logs of a crawl."""

from __future__ import annotations

import copy
import logging
import os
from typing import TYPE_CHECKING

from scrapy.utils.log import get_scrapy_root_handler

from ultracrawl.errors import WorkError
from ultracrawl.run.hooks import Feature
from ultracrawl.run.logs.candidate_logs import (
    CandidateLog,
    ExcludedLinksLog,
    candidates_path,
    excluded_path,
)
from ultracrawl.run.logs.event_logs import EventLogs
from ultracrawl.run.logs.log_files import AppendedLog, TimedLog, folder_error, log_path
from ultracrawl.run.logs.robot_log import LogLevel, RobotLog
from ultracrawl.run.logs.run_log import RunLog
from ultracrawl.settings.presets import WATCHED_SETTING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.portal_filters.filtering import Filtering


class CrawlLogs(Feature):
    """Opens, writes and closes the logs that a source has switched on; write errors never end a begun crawl."""

    def __init__(self, context: CrawlContext, settings: BaseSettings, filtering: Filtering | None) -> None:
        self._context = context
        self._settings = settings
        self._filtering = filtering
        self.events = EventLogs(context)
        """The logs of single events."""
        self._groups: list[list[AppendedLog]] = []
        """Groups of logs that are given up together after a write error."""
        self.excluded: ExcludedLinksLog | None = None
        """The log of excluded links, if switched on."""
        self.run: RunLog | None = None
        """The log of this run, if switched on."""
        self.robot: RobotLog | None = None
        """The robot log, if switched on."""

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
            raise folder_error(folder, error.strerror or str(error)) from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise folder_error(folder, "the crawling account may not write there")

    def open(self) -> None:
        """Open the logs; an error is reported and the crawl continues."""
        omit_tracebacks(self._settings)
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
        self.run.note_run_start(context.report)
        context.hooks.call(Feature.visit_ended, self.run.note_visit)

    def _open_candidates(self) -> None:
        """Open the log of candidates; the hook `candidate_judged` is used only with it, since it costs time."""
        context = self._context
        path = candidates_path(context.project, context.source.name)
        log = CandidateLog(path, context.project.logs.size, context.clock)
        log.begin(context.mark.number, context.rules.boundary, context.source.limits)
        context.hooks.call(Feature.candidate_judged, log.add)
        self._groups.append([log])

    def _open_robot(self, level: int) -> None:
        """Open `robot.log` and `filter.log`."""
        from ultracrawl.run.logs.filter_log import FilterLog  # noqa: PLC0415 - imports all filter modules

        context, filtering = self._context, self._filtering
        assert filtering is not None
        project, source = context.project, context.source.name
        actions, decisions = (
            TimedLog(log_path(project, source, name), project.logs.size, context.clock)
            for name in ("robot", "filter")
        )
        self._groups.append([actions, decisions])
        self.robot = RobotLog(actions, level)
        filtering.listener = FilterLog(decisions, filtering.robot.log_types, context.mark.number)
        filtering.robot.send_log_to(self.robot.log_filter_error)
        for doubt in filtering.doubts:
            self.robot.add(LogLevel.ERRORS, doubt)
        context.hooks.call(Feature.visit_ended, self.robot.note_visit)

    def seed_excluded(self, url: str, rule: str) -> None:
        """Log an excluded start URL."""
        if self.excluded is not None:
            self.excluded.add(url, rule, "")

    def candidate_excluded(self, url: str, rule: str, parent: str, message: str) -> None:
        """Log an excluded link, with the number and text of its message."""
        if self.excluded is not None:
            self.excluded.add(url, rule, parent)
        if self.run is not None and message:
            self.run.note_excluded(url, rule, message)

    def after_flush(self) -> None:
        """Write the logs; one that cannot be written is given up."""
        single: list[list[AppendedLog]] = [[log] for log in self.events.logs]
        for group in single + self._groups:
            try:
                for log in group:
                    log.flush()
            except WorkError as error:
                for log in group:
                    log.given_up = True
                self._context.run.note_problem(error)

    def close(self, reason: str) -> None:
        """Append the results of the run to its log and write all logs."""
        if self.run is not None:
            self.run.note_results(self._context.report, reason)
        self.events.note_run_end()
        self.after_flush()
        if self.run is not None:
            self.run.close()
        if self._filtering is not None:
            self._filtering.remove_listener()

    def log_robot_error(self, text: str) -> None:
        """Add an error to the robot log, if there is one."""
        if self.robot is not None:
            self.robot.add(LogLevel.ERRORS, text)


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


class _OneLineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Format a record with its exception on the same line."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return super().format(record)
        line = copy.copy(record)
        line.msg, line.args = f"{record.getMessage()}: {type(error).__name__}: {error}", ()
        line.exc_info = line.exc_text = None
        return super().format(line)
