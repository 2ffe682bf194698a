"""The entry point of a child process: crawls one source, and reports progress and result to the parent."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import select
import signal
import sys
import time
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import Any

from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.model import RunReport, UrlOutcome
from ultracrawl.run import RunningCrawl
from ultracrawl.service.completion import complete_failed_start
from ultracrawl.service.metrics.run_history import ERRORS
from ultracrawl.service.orders import CrawlProgress, report_adapter
from ultracrawl.service.run import run_source
from ultracrawl.service.supervisor.messages import ChildOrder
from ultracrawl.system.files import restrict_umask
from ultracrawl.system.gc_tuning import raise_gc_thresholds
from ultracrawl.system.parent_watch import exit_with_parent

PROGRESS_INTERVAL = 0.5
"""Seconds between two progress messages."""


def crawl_in_child(order: ChildOrder, parent: Connection) -> None:
    """Crawl a source; sends progress messages and finally the report, also if the crawl could not start.

    For an order with `death` only the completion command of the source is run.
    """
    os.setsid()  # only the parent shall get the SIGINT of Ctrl-C
    os.dup2(2, 1)  # prints of spiders go to standard error
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # before the crawl starts there is nothing to end cleanly
    exit_with_parent()
    raise_gc_thresholds()
    restrict_umask()
    settings = {"LOG_LEVEL": "ERROR", **order.settings}
    if settings["LOG_LEVEL"] != "DEBUG":
        logging.getLogger("scrapy").setLevel(logging.ERROR)
    if order.death:
        asyncio.run(complete_failed_start(order.project, order.source, WorkError(order.death)))
        return
    reporter = _ProgressReporter(parent)
    try:
        reports = run_source(
            order.project, order.source, force=order.force, settings=settings, watcher=reporter.send_progress
        )
    except UltracrawlError as error:
        mistake = isinstance(error, UserError)
        reporter.send_report(RunReport.not_begun(order.source.name, error), mistake=mistake)
    else:
        for report in reports:  # none if it was stopped before it started
            reporter.send_report(report)
    sys.stderr.flush()


class _ProgressReporter:
    """Sends messages to the parent as lines of JSON; skips progress messages that the parent is not ready to read."""

    def __init__(self, parent: Connection) -> None:
        self._parent = parent
        self._begun = time.monotonic()
        self._start: float | None = None
        """Seconds from the begin of the process to the first message."""
        self._next = 0.0
        self._last = False
        """Whether a filter function requested that no further run follows."""

    def send_progress(self, crawl: RunningCrawl) -> None:
        """Send the counters of a crawl, at most twice a second."""
        now, self._last = time.monotonic(), crawl.is_last
        if now < self._next or not select.select([], [self._parent], [], 0)[1]:
            return
        self._next = now + PROGRESS_INTERVAL
        self._start = now - self._begun if self._start is None else self._start
        self._send({"live": asdict(progress_of(crawl, self._start))})

    def send_report(self, report: RunReport, *, mistake: bool = False) -> None:
        """Send the final report."""
        written = report_adapter().dump_python(report, mode="json")
        self._send({"report": written, "mistake": mistake, "last": self._last})

    def _send(self, message: dict[str, Any]) -> None:
        left = json.dumps(message).encode() + b"\n"
        try:
            while left:
                left = left[os.write(self._parent.fileno(), left) :]
        except OSError:  # the parent is gone, and `exit_with_parent` ends this process
            self._next = float("inf")


def progress_of(crawl: RunningCrawl, start: float) -> CrawlProgress:
    """Return the progress of a crawl that took `start` seconds to open its files."""
    report = crawl.context.report
    counts = {
        "fetched": report.fetched,
        "indexed": report.indexed,
        "deleted": report.deleted,
        "queued": report.queued,
        "done": report.outcomes.total(),
        "failed": report.outcomes[UrlOutcome.FAILED],
        "errors": sum(report.outcomes[one] for one in ERRORS),
    }
    wait = str(crawl.context.run.wait or "")
    site = next((visit.entry.site for visit in crawl.context.visits.values()), "")
    return CrawlProgress(report.run_id, crawl.paused, site, crawl.quiet_seconds, start, counts, wait)
