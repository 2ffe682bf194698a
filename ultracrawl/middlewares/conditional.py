"""Conditional requests: stored validators go out, an unchanged answer ends the visit early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.crawl import CrawlContext, Visit, context_of, feature_of, visit_of
from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.placement.duplicates import Duplicates
from ultracrawl.crawl.reading.permissions import PermissionReader
from ultracrawl.model import NO_CAUSE, Cause, UrlOutcome
from ultracrawl.model.cause import part_of
from ultracrawl.rules.recrawl.change import checksum, classify, conditional_headers

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_CONDITIONS = {b"If-None-Match", b"If-Modified-Since"}
_UNMODIFIED = UrlOutcome.UNMODIFIED


class ConditionalMiddleware:
    """Sends If-None-Match and If-Modified-Since; 304 means NOT_MODIFIED, an equal body means UNMODIFIED.

    Ends such a visit before the page is parsed; the stored links of the page stay as they are, and with them
    its children stay alive. In a run that must scan every page nothing is sent and nothing ends here; without
    `refresh.conditional` nothing is sent, and an equal body still ends the visit.
    """

    def __init__(
        self,
        context: CrawlContext,
        head_refusal: Callable[[Response], Cause],
        stays_duplicate: Callable[[Visit], bool],
    ) -> None:
        """`head_refusal` says why a page stays out of the index by its headers; `stays_duplicate` may end a visit."""
        self._context = context
        self._head_refusal = head_refusal
        self._stays_duplicate = stays_duplicate
        self._conditional = context.source.refresh.conditional

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        permissions = feature_of(crawler, PermissionReader)
        return cls(
            context_of(crawler), permissions.head_refusal, feature_of(crawler, Duplicates).stays_duplicate
        )

    def process_request(self, request: Request) -> None:
        """Add the validators of what is known."""
        visit = visit_of(request)
        if visit is not None and self._conditional and not visit.rescan and request.method == "GET":
            for name, value in conditional_headers(visit.record).items():
                request.headers[name] = value

    def process_response(self, request: Request, response: Response) -> Response:
        """Note the checksum; end the visit if nothing changed."""
        visit = visit_of(request)
        if visit is None or visit.done:
            return response
        refusal = NO_CAUSE if visit.sitemap else self._head_refusal(response)
        if refusal:
            # It can be withdrawn without a change of the page: the next visit has to see the page in full.
            visit.drop_validators()
        if response.status == 304:
            # That of a sitemap is for its reader; without a question it is no answer (RFC 9110 15.4.5).
            if visit.sitemap is None and _CONDITIONS & request.headers.keys():
                self._not_modified(visit, refusal)
        elif response.status == 200:
            visit.note_checksum(checksum(response.body))
            may_end = not refusal and self._may_end(visit, response)
            if may_end and classify(visit.record, visit.checksum) is _UNMODIFIED:
                ending = Ending(_UNMODIFIED, 200, part_of(visit.fetch.truncated))
                self._context.endings.end_visit(visit, ending)
        return response

    def _not_modified(self, visit: Visit, refusal: Cause) -> None:
        if refusal and visit.record.retained:
            self._context.endings.end_visit(visit, Ending(UrlOutcome.NOT_INDEXED, 304, refusal))
        elif not self._stays_duplicate(visit):
            self._context.endings.end_visit(visit, Ending(UrlOutcome.NOT_MODIFIED, 304))

    @staticmethod
    def _may_end(visit: Visit, response: Response) -> bool:
        """Whether an equal body is enough: headers that speak to robots may have changed without it."""
        return visit.record.retained and not visit.rescan and "X-Robots-Tag" not in response.headers
