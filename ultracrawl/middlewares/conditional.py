"""Conditional requests: sends stored validators, and ends visits of unchanged pages before they are parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ultracrawl.model import NO_CAUSE, Cause, UrlOutcome
from ultracrawl.model.cause import truncation_cause
from ultracrawl.rules.recrawl.change import (
    checksum,
    classify,
    conditional_headers,
    steady_checksum,
    validator_headers,
)
from ultracrawl.run import CrawlContext, Visit, context_of, has_definition, parts_of, standalone, visit_of
from ultracrawl.run.ending import Ending
from ultracrawl.run.listing.answers import content_checksum
from ultracrawl.run.placement.duplicates import Duplicates
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.reading.permissions import PermissionReader
from ultracrawl.run.rendering.part_check import PartCheck
from ultracrawl.run.transport.headers import set_header

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.model import UrlRecord
    from ultracrawl.run.rendering.known_parts import KnownPage
    from ultracrawl.run.results import Head

_CONDITIONS = {b"If-None-Match", b"If-Modified-Since"}
_UNMODIFIED = UrlOutcome.UNMODIFIED


class Conditions(Protocol):
    """The stored validators of pages, and the handling of unchanged ones."""

    def add_validators(self, request: Request) -> Awaitable[None] | None:
        """Add If-None-Match and If-Modified-Since to a request if validators of its page are stored."""

    def judge_answer(self, request: Request, response: Response) -> Response | Request:
        """Return the response or its replacement. Raises `IgnoreRequest` to drop it."""


class HeadPermissions(Protocol):
    """What is known about the permission to index a page before it is read."""

    def head_refusal(self, visit: Visit, head: Head) -> Cause:
        """Return why headers, robots.txt or tdmrep.json keep a page out of the index, or `NO_CAUSE`."""

    def site_reserves(self, visit: Visit) -> bool:
        """Return whether tdmrep.json reserves a page, unless the page itself, which has to be read, permits its use."""


class UnreadDocuments(Protocol):
    """Documents that no converter could read, and that are not read again while they are unchanged."""

    def stays_unread(self, visit: Visit) -> bool:
        """Return whether the document of a visit is one of them, if the server says that it is unchanged."""

    def end_unread(self, visit: Visit) -> None:
        """End the visit of such a document as the one before."""


class ConditionalMiddleware:
    """Sends If-None-Match and If-Modified-Since, and acts on 304.

    In the crawl of a source 304 means NOT_MODIFIED, and an equal body UNMODIFIED. For spiders without a definition the
    stored response replaces a 304, with the flag `not-modified`, or the page is dropped.
    """

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware for a crawler."""
        if not has_definition(crawler):
            return cls(standalone.ConditionalRequests.from_crawler(crawler))
        permissions, duplicates = parts_of(crawler)[PermissionReader], parts_of(crawler)[Duplicates]
        may_follow_now, checks = duplicates.canonical_links.may_follow_now, parts_of(crawler).get(PartCheck)
        stays = duplicates.stays_duplicate
        unread = parts_of(crawler)[DocumentConverter]
        return cls(VisitConditions(context_of(crawler), permissions, stays, may_follow_now, unread, checks))

    async def process_request(self, request: Request) -> None:
        """Add the stored validators."""
        checking = self._conditions.add_validators(request)
        if checking is not None:
            await checking

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """Handle 304 and equal bodies."""
        return self._conditions.judge_answer(request, response)


class VisitConditions:
    """Ends visits of unchanged pages before they are parsed.

    Their stored links are kept, so that linked pages do not become orphans. In a run that must scan every page no
    validators are sent and no visit ends here; without `refresh.conditional` no validators are sent, and an equal body
    still ends the visit.
    """

    def __init__(
        self,
        context: CrawlContext,
        permissions: HeadPermissions,
        stays_duplicate: Callable[[Visit], bool],
        may_follow_now: Callable[[UrlRecord], bool],
        unread: UnreadDocuments,
        parts: PartCheck | None = None,
    ) -> None:
        """`stays_duplicate` may end a visit; `may_follow_now` returns whether a page may have become an alias.

        `parts` is None if no page is opened in a browser.
        """
        self._context = context
        self._permissions = permissions
        self._stays_duplicate = stays_duplicate
        self._may_follow_now = may_follow_now
        self._unread = unread
        self._parts = parts

    def add_validators(self, request: Request) -> Awaitable[None] | None:
        """Add the validators of the visit's record; those of a rendered page only if its parts are unchanged."""
        visit = visit_of(request)
        if visit is None:
            return None
        if self._may_follow_now(visit.record):
            visit.require_reading()
        if (
            visit.rescan
            or request.method != "GET"
            or not self._context.source_at(visit.url).refresh.conditional
        ):
            return None
        if visit.sitemap is None:
            if self._permissions.site_reserves(visit):
                return None
            known = self._parts.known(visit) if self._parts is not None else None
            if known is not None:
                return self._check_parts(visit, request, known)
        if self._unread.stays_unread(visit):
            self._add(request, validator_headers(visit.record.etag, visit.record.last_modified))
        else:
            self._add(request, conditional_headers(visit.record))
        return None

    async def _check_parts(self, visit: Visit, request: Request, known: KnownPage) -> None:
        assert self._parts is not None
        if await self._parts.check(visit, known):
            self._add(request, validator_headers(known.etag, known.last_modified))

    def _add(self, request: Request, validators: Mapping[str, str]) -> None:
        for name, value in validators.items():
            set_header(request, name, value)

    def judge_answer(self, request: Request, response: Response) -> Response:
        """Record the checksum; end the visit if the page is unchanged."""
        visit = visit_of(request)
        if visit is None or visit.done:
            return response
        head = visit.head_of(response)
        refusal = NO_CAUSE if visit.sitemap else self._permissions.head_refusal(visit, head)
        if refusal:
            # The refusal may be withdrawn without a change of the page: the next visit has to get the whole page.
            visit.drop_validators()
        if response.status == 304:
            # The sitemap reader handles its own 304; to an unconditional request 304 is invalid (RFC 9110 15.4.5).
            if visit.sitemap is None and _CONDITIONS & request.headers.keys():
                self._not_modified(visit, refusal)
        elif response.status == 200:
            value = self._checksum(visit, response.body)
            visit.note_checksum(value)
            # X-Robots-Tag may change while the body does not.
            may_end = not (refusal or visit.rescan or head.page.x_robots_tag) and visit.record.retained
            spared = visit.opened_page == value
            if may_end and (spared or classify(visit.record, value) is _UNMODIFIED):
                ending = Ending(_UNMODIFIED, 200, truncation_cause(visit.fetch.truncated))
                self._context.endings.end_visit(visit, ending)
        return response

    def _checksum(self, visit: Visit, body: bytes) -> bytes:
        rules = self._context.rules
        if rules.listed:
            return content_checksum(visit.listed, body, rules.recipe)
        # A page that a browser opened costs much, so it is looked at more closely whether it has changed.
        return checksum(body) if self._parts is None else steady_checksum(body)

    def _not_modified(self, visit: Visit, refusal: Cause) -> None:
        if refusal and visit.record.retained:
            self._context.endings.end_visit(visit, Ending(UrlOutcome.NOT_INDEXED, 304, refusal))
        elif self._unread.stays_unread(visit):
            self._unread.end_unread(visit)
        elif not self._stays_duplicate(visit):
            self._context.endings.end_visit(visit, Ending(UrlOutcome.NOT_MODIFIED, 304))
