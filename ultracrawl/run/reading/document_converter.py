"""Sends documents that need a converter, and large pages, to the conversion processes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.content.converters.registry import version_of_all
from ultracrawl.content.html import articles
from ultracrawl.content.service.job import (
    Converted,
    Job,
    JobResult,
    NotConverted,
    PageJob,
    PageLost,
    PageRead,
    ProcessLimits,
)
from ultracrawl.content.service.pool import ConversionPool
from ultracrawl.model import Cause, CauseCode, Conversion, Page, StatusCode, UrlOutcome
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.rules.recrawl.change import is_unread, stays_unread, unread_checksum
from ultracrawl.run.download_errors.kinds import Failure
from ultracrawl.run.hooks import Feature
from ultracrawl.run.visit import Step, Visit

if TYPE_CHECKING:
    from ultracrawl.content.reader import PageHeaders, PageReader
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

MAX_WAITING_BYTES = 128 << 20
"""Bytes of documents in conversion from which the crawl waits."""
_MIN_COUNTED_BYTES = 1 << 16
"""Bytes that a document counts at least: its response, visit and request take memory as well."""


class DocumentConverter(Feature):
    """Converts the documents of a crawl; processes are started when the first one comes."""

    def __init__(
        self,
        context: CrawlContext,
        end_failed: Callable[[Visit, Failure], None],
        within: Callable[[Visit, Step], AbstractContextManager[None]],
    ) -> None:
        """Initialise; `end_failed` ends a visit or has it retried, `within` times a step of a visit.

        Raises `MissingExtraError` if the source has articles extracted without what does that.
        """
        self._context = context
        self._end_failed = end_failed
        self._within = within
        section = context.source.conversion
        self._types = context.rules.converted
        self._limits = section.limits
        self._keep_partial = section.keep_partial
        self._pool = ConversionPool(ProcessLimits(section.timeout, section.memory), section.workers)
        self._waiting = 0
        if context.source.content.extracts_articles:
            articles.check_extractor()

    def takes(self, media_type: str) -> bool:
        """Return whether documents of a type are read by a converter."""
        return media_type in self._types

    @property
    def congested(self) -> bool:
        """Whether so much waits for conversion that no more may be fetched."""
        return self._waiting > MAX_WAITING_BYTES

    @property
    def pids(self) -> list[int]:
        """The process ids of the conversion processes."""
        return self._pool.pids

    async def large_page(
        self, visit: Visit, body: bytes, url: str, head: PageHeaders, reader: PageReader | None = None
    ) -> Page | None:
        """Return a large page; None if it could not be read within its limits, which ends the visit.

        It is read as HTML if a `reader` is given, else by the reader of the source and by its type.
        """
        context = self._context
        seconds = context.source_at(visit.url).limits.seconds_per_page
        media_type = "text/html" if reader else visit.fetch.media_type
        job = PageJob(body, url, media_type, head, reader or context.rules.reader_of(visit.url), seconds)
        answer = await self._run_job(visit, job)
        if isinstance(answer, PageRead):
            return answer.page
        assert isinstance(answer, PageLost)
        cause = Cause(CauseCode.UNREADABLE, detail=answer.reason)
        logger.info("%s: %s", visit.url, cause)
        failure = Failure(UrlOutcome.FAILED, StatusCode.READ_ERROR, cause, may_pass=answer.may_pass)
        self._end_failed(visit, failure)
        return None

    async def page(self, visit: Visit, body: bytes, head: PageHeaders) -> Page | None:
        """Return the page of a document; None if it could not be converted, which ends the visit."""
        if self.stays_unread(visit, visit.checksum):
            self.end_unread(visit)
            return None
        answer = await self._converted(visit, body, head)
        conversion = None if answer is None else self._settle(visit, answer)
        return None if conversion is None else self._page_of(visit, conversion, head)

    def stays_unread(self, visit: Visit, body: bytes = b"") -> bool:
        """Return whether a document could not be converted before, and cannot now, as it is unchanged.

        It is by the checksum of its `body`, or by its validators, if none is given.
        """
        if visit.rescan or visit.from_store or not is_unread(visit.record.checksum):
            return False
        return stays_unread(visit.record, version_of_all(), body)

    def end_unread(self, visit: Visit) -> None:
        """End the visit of such a document as the one before."""
        failure = Failure(UrlOutcome.FAILED, StatusCode.CONVERSION_FAILED, visit.record.cause)
        self._end_failed(visit, failure)

    async def page_or_none(self, visit: Visit, body: bytes, head: PageHeaders) -> Page | None:
        """Like `page`, but the visit goes on without a page if a document could not be converted.

        It still ends if only the converter failed and the index has a complete version, which is kept.
        """
        answer = await self._converted(visit, body, head)
        if isinstance(answer, NotConverted) and (answer.partial is None or not self._keep_partial):
            failed = answer.status is StatusCode.CONVERTER_MISSING
            if not (failed and _has_whole_version(visit)):
                logger.info("%s stays as it is: %s", visit.url, answer.reason)
                if failed:
                    visit.drop_validators()
                return None
        conversion = None if answer is None else self._settle(visit, answer)
        return None if conversion is None else self._page_of(visit, conversion, head)

    async def _converted(
        self, visit: Visit, body: bytes, head: PageHeaders
    ) -> Converted | NotConverted | None:
        """Return the result of a conversion; None if the document is read once more at the end of the run."""
        charset = self._context.source.default_charset
        job = Job(body, visit.fetch.media_type, head.content_type, charset, self._limits)
        answer = await self._run_job(visit, job)
        assert isinstance(answer, Converted | NotConverted)
        if isinstance(answer, NotConverted) and answer.may_pass:
            return None if self._context.queue.set_aside(visit, answer.reason) else answer
        return answer

    def _page_of(self, visit: Visit, conversion: Conversion, head: PageHeaders) -> Page:
        page = self._context.rules.reader_of(visit.url).page_of(conversion, visit.fetch.media_type, head)
        self._context.counters.note_truncation(visit, page)
        return page

    async def _run_job(self, visit: Visit, job: Job | PageJob) -> JobResult:
        """Process a document; its place at the site is released meanwhile."""
        self._context.queue.release(visit)
        size = max(len(job.body), _MIN_COUNTED_BYTES)
        self._waiting += size
        try:
            with self._within(visit, Step.CONVERSION):
                return await asyncio.wrap_future(self._pool.submit(job))
        finally:
            self._waiting -= size

    def _settle(self, visit: Visit, answer: Converted | NotConverted) -> Conversion | None:
        """Return the conversion to index, or None and end the visit (status code 903 or 908)."""
        if isinstance(answer, Converted):
            visit.note_truncated(answer.conversion.truncated)
            return replace(answer.conversion, truncated="")
        if answer.partial is not None and self._keep_partial and not _has_whole_version(visit):
            visit.note_truncated(answer.reason)
            return replace(answer.partial, truncated="")
        cause = Cause(CauseCode.NOT_CONVERTED, _joined(answer.reason, visit.fetch.truncated))
        logger.info("%s was not converted: %s", visit.url, cause)
        if answer.status is StatusCode.CONVERSION_FAILED and visit.checksum:
            visit.note_checksum(unread_checksum(visit.checksum, version_of_all()))
        self._end_failed(visit, Failure(UrlOutcome.FAILED, StatusCode(answer.status), cause))
        return None

    async def fetching_ended(self) -> None:
        """Stop the conversion processes."""
        self._pool.close()


def _joined(*reasons: str) -> str:
    """Join distinct reasons; a stored response already has that of its first conversion."""
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def _has_whole_version(visit: Visit) -> bool:
    """Return whether a complete version is in the index, which no partial one may replace.

    A document made from a stored response replaces what the index has in any case.
    """
    record = visit.record
    is_part = record.outcome in SUBMITTED and record.cause.code is CauseCode.PART
    return record.indexed and not visit.from_store and not is_part
