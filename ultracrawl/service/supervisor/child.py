"""What runs in the process of a crawl: it tells its parent how it goes, and ends with it."""

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

from pydantic import TypeAdapter

from ultracrawl.crawl import RunningCrawl
from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.model import RunReport, UrlOutcome
from ultracrawl.service.completion import complete_failed_start
from ultracrawl.service.parent_watch import exit_with_parent
from ultracrawl.service.run import run_sources
from ultracrawl.service.supervisor.messages import ChildOrder, Live
from ultracrawl.system.files import restrict_umask
from ultracrawl.system.gc_tuning import raise_gc_thresholds

TELL_EVERY = 0.5
"""Seconds between two messages about how a crawl goes."""


def crawl_in_child(order: ChildOrder, parent: Connection) -> None:
    """Crawl a source; says how it goes, and at the end hands over the report, of one that could not begin, too.

    Of one that died only do what its source wants done after a failure.
    """
    os.setsid()  # a Ctrl-C is for the parent, which knows what to do with it
    os.dup2(2, 1)  # what spiders print is no answer
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)  # until the crawl has begun there is nothing to end cleanly
    exit_with_parent()
    raise_gc_thresholds()
    restrict_umask()
    if order.log_level != "DEBUG":
        logging.getLogger("scrapy").setLevel(logging.ERROR)
    if order.death:
        asyncio.run(complete_failed_start(order.project, order.source, WorkError(order.death)))
        return
    teller = _Teller(parent)
    try:
        reports = run_sources(
            order.project,
            [order.source],
            force=order.force,
            settings={"LOG_LEVEL": order.log_level},
            watcher=teller.tell_progress,
        )
    except UltracrawlError as error:
        mistake = isinstance(error, UserError)
        teller.tell_end(RunReport.not_begun(order.source.name, error), mistake=mistake)
    else:
        for report in reports:  # none, if it was stopped before it began
            teller.tell_end(report)
    sys.stderr.flush()


class _Teller:
    """Tells the parent by lines of JSON; what it does not take at once is left out, the end apart."""

    def __init__(self, parent: Connection) -> None:
        self._parent = parent
        self._next = 0.0

    def tell_progress(self, crawl: RunningCrawl) -> None:
        """Tell the numbers of a crawl, twice a second."""
        now = time.monotonic()
        if now < self._next or not select.select([], [self._parent], [], 0)[1]:
            return
        self._next = now + TELL_EVERY
        self._tell({"live": asdict(_live(crawl))})

    def tell_end(self, report: RunReport, *, mistake: bool = False) -> None:
        """Hand over the report."""
        self._tell({"report": TypeAdapter(RunReport).dump_python(report, mode="json"), "mistake": mistake})

    def _tell(self, what: dict[str, Any]) -> None:
        left = json.dumps(what).encode() + b"\n"
        try:
            while left:
                left = left[os.write(self._parent.fileno(), left) :]
        except OSError:  # it has gone, and so shall we
            self._next = float("inf")


def _live(crawl: RunningCrawl) -> Live:
    report = crawl.context.report
    counts = {
        "fetched": report.fetched,
        "indexed": report.indexed,
        "deleted": report.deleted,
        "queued": report.queued,
        "done": report.outcomes.total(),
        "failed": report.outcomes[UrlOutcome.FAILED],
    }
    site = next((visit.entry.site for visit in crawl.context.visits.values()), "")
    return Live(report.run_id, crawl.paused, site, counts)
