"""Takes documents that need a converter to the conversion processes, and their answers to pages."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.conversion import Converted, Job, ProcessLimits
from ultracrawl.conversion.pool import ConversionPool
from ultracrawl.extensions.failures import Failure
from ultracrawl.extensions.recorder import HANDED
from ultracrawl.model import StatusCode, UrlOutcome

if TYPE_CHECKING:
    from ultracrawl.content import AnswerHead
    from ultracrawl.conversion.job import Answer
    from ultracrawl.extensions.session import CrawlSession
    from ultracrawl.extensions.visit import Visit
    from ultracrawl.model import Conversion, Page

logger = logging.getLogger(__name__)

MOST_WAITING = 64 << 20
"""Bytes of documents that wait for conversion before the crawl waits for them."""
_LEAST_SIZE = 1 << 16
"""What a document counts at least: its answer, its visit and its request take memory as well."""


class ConversionDesk:
    """Converts the documents of one crawl. Nothing is started before the first of them comes."""

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        section = session.source.conversion
        self._types = session.rules.converted
        self._limits = section.limits
        self._keep_partial = section.keep_partial
        self._pool = ConversionPool(ProcessLimits(section.timeout, section.memory), section.workers)
        self._waiting = 0

    def takes(self, media_type: str) -> bool:
        """Tell whether documents of a type are read by a converter."""
        return media_type in self._types

    @property
    def congested(self) -> bool:
        """Whether so much waits for conversion that no more may be fetched."""
        return self._waiting > MOST_WAITING

    @property
    def pids(self) -> list[int]:
        """The numbers of the conversion processes."""
        return self._pool.pids

    async def page(self, visit: Visit, body: bytes, head: AnswerHead) -> Page | None:
        """Return the page of a document; None if it could not be converted, and the visit has ended by that."""
        charset = self._session.source.default_charset
        job = Job(body, visit.media_type, head.content_type, charset, self._limits)
        self._session.links.release(visit)
        size = max(len(body), _LEAST_SIZE)
        self._waiting += size
        try:
            answer = await asyncio.wrap_future(self._pool.submit(job))
        finally:
            self._waiting -= size
        conversion = self._settle(visit, answer)
        if conversion is None:
            return None
        return self._session.rules.reader.page_of(conversion, visit.media_type, head)

    def _settle(self, visit: Visit, answer: Answer) -> Conversion | None:
        """Return what is worth indexing; end the visit if that is nothing (Ultra Search 903, 908)."""
        if isinstance(answer, Converted):
            _mark(visit, answer.conversion.truncated)
            return replace(answer.conversion, truncated="")
        if answer.partial is not None and self._keep_partial and not _holds_whole(visit):
            _mark(visit, answer.reason)
            return replace(answer.partial, truncated="")
        reason = _joined(answer.reason, visit.truncated)
        logger.info("%s was not converted: %s", visit.url, reason)
        self._session.failing.failure(visit, Failure(UrlOutcome.FAILED, StatusCode(answer.status), reason))
        return None

    def close(self) -> None:
        """End the conversion processes."""
        self._pool.close()


def _mark(visit: Visit, truncated: str) -> None:
    visit.truncated = _joined(visit.truncated, truncated)


def _joined(*reasons: str) -> str:
    """Return reasons as one; a stored answer comes with that of its first conversion."""
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def _holds_whole(visit: Visit) -> bool:
    """Return whether a whole version is in the index, whose place no part may take.

    What is made again from the store is what the index has, or had. A document with a reason is a part.
    """
    record = visit.record
    is_part = record.outcome in HANDED and bool(record.reason)
    return record.indexed and not visit.stored and not is_part
