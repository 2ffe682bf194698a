"""Records each response for its visit, and refuses it by headers, media type or size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from scrapy import signals
from scrapy.exceptions import StopDownload
from scrapy.http.request import NO_CALLBACK

from ultracrawl.content.ftp_listing import is_ftp_listing
from ultracrawl.errors import WorkError
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.model.advice import advice_at_wall
from ultracrawl.rules.acceptance import Accepted, Refusal
from ultracrawl.rules.frontier.politeness.retry_after import RETRY_AFTER_STATUS, retry_after
from ultracrawl.rules.walls import HEADERS as WALL_HEADERS
from ultracrawl.rules.walls import NEEDS_SCRIPTS, wall_of_body, wall_of_headers
from ultracrawl.run import CrawlContext, Visit, context_of, parts_of, rendering, visit_of
from ultracrawl.run.control.scrapy_statistics import ScrapyStatistics
from ultracrawl.run.discovery.feed_tracker import FeedTracker
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.results import TRUNCATED_KEY, FetchResult, read_head
from ultracrawl.run.transport.headers import header_of, keys_of, values_in, values_of
from ultracrawl.run.transport.outgoing import WITHOUT_LOGIN

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from scrapy.signalmanager import SignalManager

    from ultracrawl.rules.acceptance import Acceptance


MAX_UNUSED_BODY_BYTES = 16_384
"""A refused body up to this announced length is received all the same: that is cheaper than a new connection."""
FIRST_ERROR_STATUS = 400
LONG_WAIT = 10.0
"""Seconds of `Retry-After` from which on a crawl says why it stands still."""
_RECEIVED_BYTES_KEY = "ultracrawl_received"
_WALL_KEYS = keys_of(mark.name for mark in WALL_HEADERS)


class FeedDetector(Protocol):
    """Decides which responses are parsed as feeds."""

    def may_be(self, visit: Visit, content_type: str) -> bool:
        """Whether a response of this declared type may be a feed."""

    def is_feed(self, visit: Visit, response: Response) -> bool:
        """Whether a response is parsed as a feed."""


class DownloadCounts(Protocol):
    """Counts the results of requests, including those for robots.txt and of user code."""

    def count_answer(self, method: str, status: int) -> None:
        """Count a response."""

    def count_error(self, method: str, error: BaseException) -> None:
        """Count a request that failed with an error."""


class AcceptanceMiddleware:
    """Handles every response first: records status and validators, truncates bodies, ends visits without a page."""

    def __init__(self, context: CrawlContext, feeds: FeedDetector | None, counts: DownloadCounts) -> None:
        self._context = context
        self._feeds = feeds
        self._counts = counts
        self._acceptance = context.rules.acceptance
        self._early: EarlyStop | None = None
        self._walls: set[str] = set()
        self._asked_to_wait: set[str] = set()
        """Kinds of walls that the report names."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware for a crawler."""
        context = context_of(crawler)
        middleware = cls(context, parts_of(crawler).get(FeedTracker), parts_of(crawler)[ScrapyStatistics])
        if not context.run.inspection:  # an inspection shows the whole response
            middleware.connect_early_stop(crawler.signals)
        return middleware

    def connect_early_stop(self, signal_manager: SignalManager) -> None:
        """Stop downloads that will be refused or truncated, by Scrapy's signals."""
        self._early = EarlyStop(self._acceptance, self._feeds, signal_manager)

    def process_response(self, request: Request, response: Response) -> Response:
        """Record the response; end the visit or truncate the body by the acceptance rules of the source."""
        self._counts.count_answer(request.method, response.status)
        visit = visit_of(request)
        if visit is None or visit.done:
            return response
        head = read_head(response.headers)
        listing = visit.url.startswith("ftp:") and is_ftp_listing(visit.url, head.page.content_type)
        is_page = 200 <= response.status < 300 and visit.sitemap is None
        feed = is_page and self._feeds is not None and self._feeds.is_feed(visit, response)
        judged = (
            self._acceptance.judge(values_of(response), response.body)
            if is_page and not listing and not feed
            else None
        )
        accepted = judged if isinstance(judged, Accepted) else None
        wall = "" if visit.sitemap or listing or feed else self._wall_of(visit, response)
        is_refusal = wall != NEEDS_SCRIPTS  # sentence: a name of rules.walls
        fetch = FetchResult(
            status=response.status,
            size=len(response.body),
            latency=float(request.meta.get("download_latency", 0.0)),
            retry_after=self._retry_after(visit, response) if response.status in RETRY_AFTER_STATUS else 0.0,
            head=head,
            etag=head.etag,
            last_modified=head.last_modified,
            media_type=accepted.media_type if accepted else "",
            follow_only=accepted is not None and accepted.follow_only,
            truncated=self._truncated(request, accepted),
            listing=listing,
            feed=feed,
            wall=wall if is_refusal else "",
            without_login=WITHOUT_LOGIN in response.flags,
        )
        visit.note_answer(fetch)
        if fetch.retry_after >= LONG_WAIT:
            self._tell_wait(visit, fetch)
        if visit.sitemap is None:
            self._context.counters.count_fetched(fetch.latency)
        for hook in self._context.hooks[Feature.response_received]:
            hook(visit)
        if wall:
            self._end_at_wall(visit, wall)
        elif isinstance(judged, Refusal):
            self._refuse(visit, judged)
        elif accepted is not None and accepted.cut:
            return response.replace(body=response.body[: self._acceptance.cut_off])
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Count a request without a response; the exception goes on to the errback."""
        self._counts.count_error(request.method, exception)
        if request.callback not in (None, NO_CALLBACK) and visit_of(request) is None:
            self._context.run.note_spider_failure()

    def _truncated(self, request: Request, accepted: Accepted | None) -> str:
        """Return what is left unread of the body; a stored response says it of its first reading."""
        if accepted is not None and accepted.cut:
            return f"only the first {self._acceptance.cut_off} bytes were read (cut_off)"
        return str(request.meta.get(TRUNCATED_KEY, ""))

    def _retry_after(self, visit: Visit, response: Response) -> float:
        longest = self._context.rules.pace.at(visit.entry.site).longest_retry_after
        return retry_after(header_of(response, "Retry-After"), self._context.clock(), longest)

    def _tell_wait(self, visit: Visit, fetch: FetchResult) -> None:
        """Say once for each site why the crawl stands still: nothing else tells it while it does."""
        site = visit.entry.site
        if site not in self._asked_to_wait:
            self._asked_to_wait.add(site)
            self._context.counters.add_remark(
                f"{site} asks to wait {fetch.retry_after:,.0f} s (status {fetch.status}, Retry-After); "
                "`politeness.longest_retry_after` limits that"
            )

    def _wall_of(self, visit: Visit, response: Response) -> str:
        """Return the kind of wall that a response is; those of FTP servers and of stored responses are none."""
        if visit.from_store or not visit.url.startswith("http"):
            return ""
        scripts_run = bool(self._context.source_at(visit.url).javascript.use)
        if not _WALL_KEYS.isdisjoint(response.headers) and (wall := wall_of_headers(values_of(response))):
            return wall
        return wall_of_body(response.body, scripts_run=scripts_run)

    def _end_at_wall(self, visit: Visit, wall: str) -> None:
        """End a visit that met a wall: its document, if any, stays; the report says once what can be done."""
        status = visit.fetch.status if visit.fetch.status >= FIRST_ERROR_STATUS else StatusCode.READ_ERROR
        self._context.endings.end_visit(visit, Ending(UrlOutcome.FAILED, status, Cause(CauseCode.WALL, wall)))
        if wall not in self._walls:
            self._walls.add(wall)
            has_logins = bool(self._context.source.logins)
            advice = advice_at_wall(has_logins=has_logins, lacks=rendering.what_rendering_lacks())
            what = f"the server returned a wall in place of the page ({wall})"
            self._context.run.note_problem(WorkError(f"{visit.url} and perhaps others: {what}; {advice}"))

    def _refuse(self, visit: Visit, refusal: Refusal) -> None:
        """End a refused visit."""
        if not self._context.rules.listed:
            # The server may declare another type for the same content next time, and must not answer 304 then.
            visit.drop_validators()
        self._context.counters.count_excluded_later(refusal.rule)
        # FAILED keeps an indexed document: its converter may only be missing today.
        lacks_converter = refusal.status is StatusCode.CONVERTER_MISSING
        outcome = UrlOutcome.FAILED if lacks_converter else UrlOutcome.NOT_INDEXED
        if lacks_converter:
            self._context.counters.add_new_remark(str(refusal.cause))
        self._context.endings.end_visit(visit, Ending(outcome, refusal.status, refusal.cause))


class EarlyStop:
    """Stops downloads by Scrapy's signals; the part received becomes the response, which is judged again as a whole.

    Bytes are counted only for a source with a `cut_off`. Signals hold receivers weakly, so the caller keeps the object.
    """

    def __init__(
        self, acceptance: Acceptance, feeds: FeedDetector | None, signal_manager: SignalManager
    ) -> None:
        self._acceptance = acceptance
        self._feeds = feeds
        self._cut_off = acceptance.cut_off
        connect = signal_manager.connect
        connect(self.headers_received, signals.headers_received)
        if self._cut_off is not None:
            connect(self.bytes_received, signals.bytes_received)

    def headers_received(self, request: Request, headers: Headers, body_length: object) -> None:
        """Stop downloads that are refused by their headers. Raises `StopDownload`.

        If the length is not announced, handlers pass different values; Twisted's is a string.
        """
        visit = visit_of(request)
        if visit is None or visit.sitemap is not None:
            return
        if self._feeds is not None and self._feeds.may_be(visit, read_head(headers).page.content_type):
            return
        if self._cut_off is not None:
            request.meta[_RECEIVED_BYTES_KEY] = None if "Content-Encoding" in headers else 0
        length = body_length if isinstance(body_length, int) else None
        if length is not None and length <= MAX_UNUSED_BODY_BYTES:
            return
        if self._acceptance.refuses_head(values_in(headers), length) is not None:
            raise StopDownload(fail=False)

    def bytes_received(self, request: Request, data: bytes) -> None:
        """Stop a body at the `cut_off`, unless it has a content encoding. Raises `StopDownload`."""
        received = request.meta.get(_RECEIVED_BYTES_KEY)
        if received is None or self._cut_off is None:
            return
        request.meta[_RECEIVED_BYTES_KEY] = received + len(data)
        if received + len(data) > self._cut_off:
            raise StopDownload(fail=False)
