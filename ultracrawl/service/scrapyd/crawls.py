"""A crawl that a Scrapyd has begun: followed until it is over, and ended when somebody wants that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from ultracrawl.crawl.logs import job_report
from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport
from ultracrawl.service.orders import Clock, CrawlEnd, CrawlOrder
from ultracrawl.service.scrapyd.client import JobPhase, ScrapydClient

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds between two looks at a job: a tenth of the time that it has taken, between these."""
PATIENCE = 600.0
"""Seconds for which Scrapyd may not answer before a crawl counts as failed."""
GONE_AFTER = 2
"""Looks at which Scrapyd does not know a job before it counts as gone."""
_REPORT = TypeAdapter(RunReport)
_BY_HAND = "by-hand"
_STOPPED = "stopped; the next crawl goes on"


def report_of(told: dict[str, Any] | None) -> RunReport | None:
    """Return a report that was kept as JSON; None if it is none that this version knows."""
    if told is None:
        return None
    known = {name: value for name, value in told.items() if value is not None}
    with suppress(ValueError):
        return _REPORT.validate_python({**known, "run_id": str(told.get("run_id") or "")})
    return None


ReportSince = Callable[[float], RunReport | None]
"""Returns the report of a run that ended after a time; None if none did, or is known here."""


async def crawl_by_scrapyd(
    client: ScrapydClient, order: CrawlOrder, clock: Clock, report_since: ReportSince
) -> ScrapydCrawl:
    """Have a Scrapyd begin a crawl, or follow the one that it began for the same schedule.

    So a crawl that outlived this process is not begun twice. Raises `WorkError` if Scrapyd cannot be asked, or crawls
    the source for somebody else.
    """
    ours = f"{order.schedule or _BY_HAND}.{order.source}."
    for job in await asyncio.to_thread(client.list_jobs):
        if job.spider == order.source and job.phase is not JobPhase.FINISHED:
            if not job.key.startswith(ours):
                raise WorkError(
                    f"{client.name} crawls the source {order.source!r} already, as job {job.key!r}"
                )
            return ScrapydCrawl(client, order, job.key, clock, report_since)
    key = ours + datetime.fromtimestamp(clock.now(), UTC).strftime("%Y%m%dT%H%M%S%fZ")
    await asyncio.to_thread(client.schedule_job, order.source, key, _settings_of(order))
    return ScrapydCrawl(client, order, key, clock, report_since)


def _settings_of(order: CrawlOrder) -> dict[str, str]:
    force = {"ULTRACRAWL_FORCE": "1"} if order.force else {}
    mode = {"ULTRACRAWL_MODE": order.mode} if order.mode else {}
    return {job_report.SETTING: "1", **force, **mode}


class ScrapydCrawl:
    """A job of a Scrapyd, which knows that it ended, and not how: that says its report, from here or from its log."""

    def __init__(
        self, client: ScrapydClient, order: CrawlOrder, key: str, clock: Clock, report_since: ReportSince
    ) -> None:
        self.order = order
        self.begun = clock.now()
        self._client = client
        self._key = key
        self._clock = clock
        self._report_since = report_since
        self._stop = asyncio.Event()
        self._told = False
        """Whether Scrapyd was told to end it."""
        self._end: asyncio.Future[CrawlEnd] = asyncio.get_running_loop().create_future()
        self._work = asyncio.ensure_future(self._follow())

    async def finished(self) -> CrawlEnd:
        """Return how it ended, when Scrapyd says so."""
        return await asyncio.shield(self._end)

    async def stop_crawl(self) -> None:
        """Have it end cleanly; tried again as long as Scrapyd cannot be asked."""
        self._stop.set()

    async def kill_crawl(self) -> None:
        """End it at once, if Scrapyd can be asked; nobody waits for it any more."""
        self._work.cancel()
        if not self._end.done():
            self._end.set_result(CrawlEnd(self.order.source, None, "ended at once; the next crawl goes on"))
            try:
                await asyncio.to_thread(self._client.kill_job, self._key)
            except WorkError as error:
                logger.warning("%s; the job %s may go on there", error, self._key)

    async def _follow(self) -> None:
        """Look at the job until it is over."""
        missed, silent_since = 0, None
        while not self._end.done():
            await self._pause()
            try:
                phase = await asyncio.to_thread(self._look)
            except WorkError as error:
                silent_since = silent_since or self._clock.now()
                if self._clock.now() - silent_since >= PATIENCE:
                    self._over(self._failed(f"{error}; the job {self._key} may go on there"))
                continue
            silent_since = None
            missed = 0 if phase else missed + 1
            if phase is JobPhase.FINISHED or (missed and self._told):
                self._over(*await asyncio.to_thread(self._result))
            elif missed >= GONE_AFTER:
                gone = (
                    f"{self._client.name} does not know the job {self._key} any more; the next crawl goes on"
                )
                self._over(None, gone, died=True)

    async def _pause(self) -> None:
        """Wait until it is time to look, or somebody wants it to end."""
        if self._stop.is_set():
            await self._clock.sleep(FIRST_PAUSE)
            return
        seconds = min(max((self._clock.now() - self.begun) / 10, FIRST_PAUSE), LONGEST_PAUSE)
        waits = asyncio.ensure_future(self._clock.sleep(seconds)), asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()

    def _look(self) -> JobPhase | None:
        """Return what Scrapyd says of the job, which is told to end before if somebody wants that."""
        if self._stop.is_set() and not self._told:
            self._client.cancel_job(self._key)
            self._told = True
        return next((job.phase for job in self._client.list_jobs() if job.key == self._key), None)

    def _result(self) -> tuple[RunReport | None, str]:
        """Return the report of the job, and if there is none why it did not do what it was asked for."""
        if (report := self._report_since(self.begun)) is not None:
            return report, ""
        log = self._client.log_of(self.order.source, self._key)
        if log is not None and (report := report_of(job_report.find_report(log))) is not None:
            return report, ""
        if self._told:
            return None, _STOPPED
        if log is None:
            return None, ""
        missing = f"{self._client.name} has no report in the log of the job {self._key}"
        return self._failed(f"{missing}: it crashed or was killed, or logs less than INFO"), ""

    def _failed(self, why: str) -> RunReport:
        """Return what is known of a job that failed: an end with an error and no report is one that a person wanted."""
        return RunReport.not_begun(self.order.source, WorkError(why))

    def _over(self, report: RunReport | None, error: str = "", *, died: bool = False) -> None:
        if not self._end.done():
            self._end.set_result(CrawlEnd(self.order.source, report, error, died))
