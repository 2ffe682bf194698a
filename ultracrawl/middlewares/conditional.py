"""Conditional requests: stored validators go out, an unchanged answer costs no page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ultracrawl.crawl import CrawlContext, Visit, context_of, feature_of, has_definition, visit_of
from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.listing.answers import content_checksum
from ultracrawl.crawl.placement.duplicates import Duplicates
from ultracrawl.crawl.reading.permissions import PermissionReader
from ultracrawl.crawl.transport.headers import has_header, set_header
from ultracrawl.model import NO_CAUSE, Cause, UrlOutcome
from ultracrawl.model.cause import truncation_cause
from ultracrawl.rules.recrawl.change import checksum, classify, conditional_headers

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_CONDITIONS = {b"If-None-Match", b"If-Modified-Since"}
_UNMODIFIED = UrlOutcome.UNMODIFIED


class Conditions(Protocol):
    """What is known of pages, and what it means that one did not change."""

    def add_validators(self, request: Request) -> None:
        """Add If-None-Match and If-Modified-Since to a request, if something is known of its page."""

    def judge_answer(self, request: Request, response: Response) -> Response | Request:
        """Act on an answer; returns it, or what takes its place. Raises `IgnoreRequest` to end its way here."""


class ConditionalMiddleware:
    """Sends If-None-Match and If-Modified-Since, and acts on 304.

    In the crawl of a source 304 means NOT_MODIFIED, and an equal body UNMODIFIED. For spiders without a definition the
    stored body takes the place of a 304, with the flag `not-modified`, or the page is dropped.
    """

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        if not has_definition(crawler):
            from ultracrawl.crawl.standalone.conditional_requests import ConditionalRequests  # noqa: PLC0415 - sources need none of it

            return cls(ConditionalRequests.from_crawler(crawler))
        permissions, duplicates = feature_of(crawler, PermissionReader), feature_of(crawler, Duplicates)
        return cls(VisitConditions(context_of(crawler), permissions.head_refusal, duplicates.stays_duplicate))

    def process_request(self, request: Request) -> None:
        """Add the validators of what is known."""
        self._conditions.add_validators(request)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Act on what did not change."""
        return self._conditions.judge_answer(request, response)


class VisitConditions:
    """Ends visits of pages that did not change.

    They end before the page is parsed; its stored links stay as they are, and with them its children stay alive. In a
    run that must scan every page nothing is sent and nothing ends here; without `refresh.conditional` nothing is sent,
    and an equal body still ends the visit.
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

    def add_validators(self, request: Request) -> None:
        """Add the validators of the record of a visit."""
        visit = visit_of(request)
        if visit is not None and self._conditional and not visit.rescan and request.method == "GET":
            for name, value in conditional_headers(visit.record).items():
                set_header(request, name, value)

    def judge_answer(self, request: Request, response: Response) -> Response:
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
            listed = self._context.rules.listed
            visit.note_checksum(content_checksum(response) if listed else checksum(response.body))
            may_end = not refusal and self._may_end(visit, response)
            if may_end and classify(visit.record, visit.checksum) is _UNMODIFIED:
                ending = Ending(_UNMODIFIED, 200, truncation_cause(visit.fetch.truncated))
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
        return visit.record.retained and not visit.rescan and not has_header(response, "X-Robots-Tag")
