"""A crawl that runs as a Scrapyd job: polls the job until it has ended, and stops it on request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport
from ultracrawl.run.logs import job_report
from ultracrawl.service.orders import Clock, CrawlEnd, CrawlOrder, CrawlProgress, report_adapter
from ultracrawl.service.scrapyd.client import JobPhase, ScrapydClient

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Limits in seconds of the interval between two polls: a tenth of the age of the job."""
PATIENCE = 600.0
"""Seconds without a response of Scrapyd after which a crawl counts as failed."""
GONE_AFTER = 2
"""Consecutive polls in which Scrapyd does not list a job after which it counts as gone."""
_BY_HAND = "by-hand"
_STOPPED = "stopped; the next crawl resumes it"


def report_of(row: dict[str, Any] | None) -> RunReport | None:
    """Return a report from its JSON object; None if it is not valid in this version."""
    if row is None:
        return None
    known = {name: value for name, value in row.items() if value is not None}
    with suppress(ValueError):
        return report_adapter().validate_python({**known, "run_id": str(row.get("run_id") or "")})
    return None


ReportSince = Callable[[float], RunReport | None]
"""Returns the report of a run that ended after a time; None if there is none on this machine."""


async def crawl_by_scrapyd(
    client: ScrapydClient, order: CrawlOrder, clock: Clock, report_since: ReportSince
) -> ScrapydCrawl:
    """Schedule a crawl on a Scrapyd, or follow the active job of the same schedule.

    So a crawl that has outlived an earlier process is not started twice. Raises `WorkError` if Scrapyd does not
    respond, or has an active job of the source that was started otherwise.
    """
    key_prefix = f"{order.schedule or _BY_HAND}.{order.source}."
    for job in await asyncio.to_thread(client.list_jobs):
        if job.spider == order.source and job.phase is not JobPhase.FINISHED:
            if not job.key.startswith(key_prefix):
                raise WorkError(
                    f"{client.name} crawls the source {order.source!r} already, as job {job.key!r}"
                )
            return ScrapydCrawl(client, order, job.key, clock, report_since)
    key = key_prefix + datetime.fromtimestamp(clock.now(), UTC).strftime("%Y%m%dT%H%M%S%fZ")
    await asyncio.to_thread(client.schedule_job, order.source, key, _settings_of(order))
    return ScrapydCrawl(client, order, key, clock, report_since)


def _settings_of(order: CrawlOrder) -> dict[str, str]:
    force = {"ULTRACRAWL_FORCE": "1"} if order.force else {}
    mode = {"ULTRACRAWL_MODE": order.mode} if order.mode else {}
    return {job_report.SETTING: "1", **force, **mode}


class ScrapydCrawl:
    """A Scrapyd job. Scrapyd reports only that it has ended; the report is read from the state here or from its log."""

    def __init__(
        self, client: ScrapydClient, order: CrawlOrder, key: str, clock: Clock, report_since: ReportSince
    ) -> None:
        self.order = order
        self.begun = clock.now()
        self.progress = CrawlProgress()
        self._client = client
        self._key = key
        self._clock = clock
        self._report_since = report_since
        self._stop = asyncio.Event()
        self._is_cancelled = False
        """Whether the job was cancelled."""
        self._end: asyncio.Future[CrawlEnd] = asyncio.get_running_loop().create_future()
        self._work = asyncio.ensure_future(self._follow())

    async def finished(self) -> CrawlEnd:
        """Wait for the end and return it."""
        return await asyncio.shield(self._end)

    async def stop_crawl(self) -> None:
        """Request a clean end; repeated as long as Scrapyd does not respond."""
        self._stop.set()

    async def kill_crawl(self) -> None:
        """Kill the job, if Scrapyd responds, and stop following it."""
        self._work.cancel()
        if not self._end.done():
            self._end.set_result(CrawlEnd(self.order.source, None, "killed; the next crawl resumes it"))
            try:
                await asyncio.to_thread(self._client.kill_job, self._key)
            except WorkError as error:
                logger.warning("%s; the job %s may still be running there", error, self._key)

    async def _follow(self) -> None:
        """Poll the job until it has ended."""
        missed, silent_since = 0, None
        while not self._end.done():
            await self._pause()
            try:
                phase = await asyncio.to_thread(self._poll)
            except WorkError as error:
                silent_since = silent_since or self._clock.now()
                if self._clock.now() - silent_since >= PATIENCE:
                    self._set_end(self._failed(f"{error}; the job {self._key} may still be running there"))
                continue
            silent_since = None
            missed = 0 if phase else missed + 1
            if phase is JobPhase.FINISHED or (missed and self._is_cancelled):
                self._set_end(*await asyncio.to_thread(self._result))
            elif missed >= GONE_AFTER:
                gone = f"{self._client.name} no longer knows the job {self._key}; the next crawl resumes it"
                self._set_end(None, gone, died=True)

    async def _pause(self) -> None:
        """Wait until the next poll is due, or the end is requested."""
        if self._stop.is_set():
            await self._clock.sleep(FIRST_PAUSE)
            return
        seconds = min(max((self._clock.now() - self.begun) / 10, FIRST_PAUSE), LONGEST_PAUSE)
        waits = asyncio.ensure_future(self._clock.sleep(seconds)), asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _poll(self) -> JobPhase | None:
        """Cancel the job if its end was requested, and return its phase; None if Scrapyd does not list it."""
        if self._stop.is_set() and not self._is_cancelled:
            self._client.cancel_job(self._key)
            self._is_cancelled = True
        return next((job.phase for job in self._client.list_jobs() if job.key == self._key), None)

    def _result(self) -> tuple[RunReport | None, str]:
        """Return the report of the job, or None and the reason why it was ended early."""
        if (report := self._report_since(self.begun)) is not None:
            return report, ""
        log = self._client.log_of(self.order.source, self._key)
        if log is not None and (report := report_of(job_report.find_report(log))) is not None:
            return report, ""
        if self._is_cancelled:
            return None, _STOPPED
        if log is None:
            return None, ""
        missing = f"{self._client.name} has no report in the log of the job {self._key}"
        return self._failed(f"{missing}: it crashed or was killed, or logs less than INFO"), ""

    def _failed(self, reason: str) -> RunReport:
        """Return a report for a failed job, since an end with an error and no report means a requested end."""
        return RunReport.not_begun(self.order.source, WorkError(reason))

    def _set_end(self, report: RunReport | None, error: str = "", *, died: bool = False) -> None:
        if not self._end.done():
            self._end.set_result(CrawlEnd(self.order.source, report, error, died))
