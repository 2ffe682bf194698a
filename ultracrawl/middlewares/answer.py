"""What an answer is: noted for its visit, and refused if its headers, its type or its size say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.content.ftp_listing import is_ftp_listing
from ultracrawl.crawl import CrawlSession, Visit, visit_of
from ultracrawl.crawl.early_stop import EarlyStop
from ultracrawl.crawl.transport.headers import header_of, values_of
from ultracrawl.crawl.visit import Step
from ultracrawl.model import StatusCode, UrlOutcome
from ultracrawl.rules.acceptance import Refusal
from ultracrawl.rules.frontier.politeness.retry_after import RETRY_AFTER_STATUS, retry_after

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class AnswerMiddleware:
    """Sees every answer first: notes status and validators, cuts what is too long, ends what is no page for us."""

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        self._early = EarlyStop(session)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(CrawlSession.of(crawler))

    def process_response(self, request: Request, response: Response) -> Response:
        """Note the answer; end the visit, or shorten the body, by the acceptance of the source."""
        visit = visit_of(request)
        if visit is None or visit.done:
            return response
        visit.latency = float(request.meta.get("download_latency", 0.0))
        self._note(visit, response)
        is_page = 200 <= response.status < 300 and visit.sitemap is None
        visit.listing = is_ftp_listing(visit.url, header_of(response, "Content-Type"))
        visit.feed = is_page and self._session.feeds.takes(visit, response)
        is_page = is_page and not visit.listing and not visit.feed
        return self._accept(visit, response) if is_page else response

    def _note(self, visit: Visit, response: Response) -> None:
        self._session.watch.enter(visit, Step.PROCESSING)
        visit.status = response.status
        visit.size = len(response.body)
        visit.retry_after = self._wish(response)
        visit.etag = header_of(response, "ETag")
        visit.last_modified = header_of(response, "Last-Modified")
        self._session.context.report.fetched += visit.sitemap is None
        self._session.limits.read(visit.size)

    def _wish(self, response: Response) -> float:
        if response.status not in RETRY_AFTER_STATUS:
            return 0.0
        longest = self._session.context.rules.pace.longest_retry_after
        return retry_after(header_of(response, "Retry-After"), self._session.context.clock(), longest)

    def _accept(self, visit: Visit, response: Response) -> Response:
        acceptance = self._session.context.rules.acceptance
        answer = acceptance.judge(values_of(response), response.body)
        if isinstance(answer, Refusal):
            self._refuse(visit, answer)
            return response
        visit.media_type = answer.media_type
        visit.follow_only = answer.follow_only
        if not answer.cut:
            return response
        visit.truncated = f"only the first {acceptance.cut_off} bytes were read (cut_off)"
        return response.replace(body=response.body[: acceptance.cut_off])

    def _refuse(self, visit: Visit, refusal: Refusal) -> None:
        """End a visit. Without validators, because the next answer may be another one for the same content."""
        visit.etag = visit.last_modified = ""
        self._session.context.report.turn_away(refusal.rule)
        # A document is not dropped because a converter is missing today.
        lacking = refusal.status is StatusCode.CONVERTER_MISSING
        outcome = UrlOutcome.FAILED if lacking else UrlOutcome.NOT_INDEXED
        self._session.context.endings.finish(visit, outcome, refusal.status, refusal.reason)
