"""Each middleware by itself: made by hand, one request or answer through it, and what became of the visit."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Headers, Response
from scrapy.signalmanager import SignalManager
from scrapy.signals import headers_received
from support.context import made_context

from ultracrawl.middlewares.acceptance import AcceptanceMiddleware
from ultracrawl.middlewares.conditional import ConditionalMiddleware, VisitConditions
from ultracrawl.middlewares.filters import FilterMiddleware
from ultracrawl.middlewares.redirect import RedirectBoundaryMiddleware, VisitRedirects
from ultracrawl.middlewares.robots import RobotsMiddleware, VisitGate
from ultracrawl.middlewares.status import StatusMiddleware
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Page, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.change import checksum
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.run.context import CrawlContext
from ultracrawl.run.download_errors.kinds import Failure
from ultracrawl.run.ending import Ending
from ultracrawl.run.filters.filtering import FilterViews
from ultracrawl.run.hooks import Feature
from ultracrawl.run.reading.permissions import PermissionReader
from ultracrawl.run.results import NO_HEAD, SiteReservations
from ultracrawl.run.visit import META_KEY, Visit
from ultracrawl.sources import DataSource, compile_source
from ultracrawl.stores import QueueEntry

URL = "http://h.example/page"


class Endings:
    """Keeps the end of the visit that a middleware ends."""

    def __init__(self) -> None:
        self.ended: Ending | None = None

    def end_visit(self, visit: Visit, ending: Ending) -> None:
        self.ended = ending
        visit.note_ending(ending)


@pytest.fixture
def endings() -> Endings:
    return Endings()


def context_of(endings: Endings, **options: Any) -> CrawlContext:
    source = DataSource.model_validate({"name": "s", "start_urls": ["http://h.example/"], **options})
    return made_context(source, rules=compile_source(source), endings=endings)


def visit_with(request: Request, **known: Any) -> Visit:
    record = UrlRecord(URL, "s", **known)
    visit = request.meta[META_KEY] = Visit(QueueEntry(1, URL, "h.example", 0, 1), record)
    return visit


@pytest.fixture
def request_() -> Request:
    return Request(URL)


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Response:
    return Response(URL, status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


class NoFeeds:
    """A source without feeds."""

    def may_be(self, visit: Visit, content_type: str) -> bool:
        return False

    def is_feed(self, visit: Visit, response: Response) -> bool:
        return False


class NoCounts:
    """Nobody wants to know how many answers there were."""

    def count_answer(self, method: str, status: int) -> None:
        pass

    def count_error(self, method: str, error: BaseException) -> None:
        pass


def test_an_answer_is_noted_and_passed_to_whom_it_concerns(endings: Endings, request_: Request) -> None:
    context, visit = context_of(endings), visit_with(request_)
    sizes: list[int] = []
    context.hooks.call(Feature.response_received, lambda visit: sizes.append(visit.fetch.size))
    page = answer(body=b"<html>words", Content_Type="text/html", ETag='"1"')
    assert AcceptanceMiddleware(context, NoFeeds(), NoCounts()).process_response(request_, page) is page
    assert (visit.fetch.status, visit.fetch.etag, visit.fetch.media_type, sizes) == (
        200,
        '"1"',
        "text/html",
        [11],
    )
    assert (context.report.fetched, endings.ended) == (1, None)


def test_headers_are_read_once_and_again_if_a_middleware_changes_them(
    endings: Endings, request_: Request
) -> None:
    context, visit = context_of(endings), visit_with(request_)
    page = answer(body=b"<html>words", Content_Type="text/html", X_Robots_Tag="nosnippet")
    AcceptanceMiddleware(context, NoFeeds(), NoCounts()).process_response(request_, page)
    assert visit.head_of(page) is visit.fetch.head
    assert visit.fetch.head.page == ("text/html", ["nosnippet"], "", ())
    page.headers.appendlist("X-Robots-Tag", "noindex")
    assert visit.head_of(page).page.x_robots_tag == ["nosnippet", "noindex"]


def test_what_a_site_reserves_is_asked_once_for_a_visit(endings: Endings, request_: Request) -> None:
    context, visit, asked = (
        context_of(endings, robots={"obey_reservations": ["ai"]}),
        visit_with(request_),
        [],
    )

    def ask_site(url: str) -> SiteReservations:
        asked.append(url)
        return SiteReservations({"ai-train": "no"}, tdm=True)

    reader = PermissionReader(context, ask_site)
    assert reader.site_reserves(visit)
    assert reader.head_refusal(visit, NO_HEAD)
    permissions = reader.page_permissions(visit, Page(), NO_HEAD)
    assert permissions.attributes == {"reservations": ["tdmrep.json", "ai-train=no"]}
    assert asked == [URL]


def test_an_answer_of_a_type_that_is_not_wanted_ends_its_visit(endings: Endings, request_: Request) -> None:
    visit = visit_with(request_)
    middleware = AcceptanceMiddleware(context_of(endings), NoFeeds(), NoCounts())
    middleware.process_response(
        request_, answer(body=b"\x89PNG\r\n\x1a\n", Content_Type="image/png", ETag='"1"')
    )
    assert endings.ended is not None
    assert (endings.ended.outcome, endings.ended.status) == (UrlOutcome.NOT_INDEXED, StatusCode.WRONG_TYPE)
    assert visit.fetch.etag == "", "the next visit has to see it in full"


def test_a_download_is_stopped_after_headers_that_refuse_it(endings: Endings, request_: Request) -> None:
    signals = SignalManager()
    middleware = AcceptanceMiddleware(context_of(endings), NoFeeds(), NoCounts())
    middleware.connect_early_stop(signals)
    visit_with(request_)
    sent = {"request": request_, "headers": Headers({"Content-Type": "image/png"}), "body_length": 1 << 20}
    ((_, outcome),) = signals.send_catch_log(headers_received, **sent)
    assert isinstance(cast("Any", outcome).value, StopDownload)


class NoUnread:
    def stays_unread(self, visit: Visit) -> bool:
        return False

    def end_unread(self, visit: Visit) -> None:
        raise NotImplementedError


def conditional(endings: Endings, refusal: Cause = NO_CAUSE) -> ConditionalMiddleware:
    permissions = SimpleNamespace(head_refusal=lambda *_: refusal, site_reserves=lambda _: False)
    return ConditionalMiddleware(
        VisitConditions(context_of(endings), permissions, lambda _: False, lambda _: False, NoUnread())
    )


def test_what_is_known_of_a_page_goes_out_and_304_ends_its_visit(endings: Endings, request_: Request) -> None:
    visit_with(request_, etag='"\xe9"', checksum=checksum(b"x"), outcome=UrlOutcome.NEW, indexed=True)
    middleware = conditional(endings)
    asyncio.run(middleware.process_request(request_))
    assert request_.headers["If-None-Match"] == b'"\xe9"', "the bytes that the server sent"
    middleware.process_response(request_, answer(304))
    assert endings.ended == Ending(UrlOutcome.NOT_MODIFIED, 304)


@pytest.mark.parametrize(("refusal", "ended"), [(NO_CAUSE, True), (Cause(CauseCode.NOINDEX), False)])
def test_an_equal_body_ends_a_visit_unless_the_page_is_forbidden_now(
    endings: Endings, request_: Request, refusal: Cause, ended: bool
) -> None:
    visit_with(request_, checksum=checksum(b"words"), outcome=UrlOutcome.NEW, indexed=True)
    conditional(endings, refusal).process_response(request_, answer(body=b"words"))
    assert (endings.ended is not None and endings.ended.outcome is UrlOutcome.UNMODIFIED) is ended


def test_a_redirect_is_handed_over_as_it_came(request_: Request) -> None:
    visit = visit_with(request_)
    followed: list[object] = []

    def follow(*told: object) -> bool:
        followed.extend(told)
        return True

    RedirectBoundaryMiddleware(VisitRedirects(follow).judge_answer).process_response(
        request_, answer(302, Location=" /there ")
    )
    assert followed == [visit, 302, "/there", URL]


class Errors:
    """Keeps what it was asked to act on."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def handle_status(self, visit: Visit, status: int, *, passes: bool) -> None:
        self.asked += [status, passes]

    def handle_ftp_reply(self, visit: Visit, reply: str) -> None:
        self.asked.append(reply)


@pytest.mark.parametrize(
    ("status", "asked"),
    [(404, [404, False]), (503, [503, True]), (200, [])],
    ids=["gone", "busy", "no error"],
)
def test_what_an_error_means_is_asked_of_the_rules(
    endings: Endings, request_: Request, status: int, asked: list[object]
) -> None:
    visit_with(request_)
    errors = Errors()
    StatusMiddleware(context_of(endings), errors).process_response(request_, answer(status))
    assert (errors.asked, endings.ended) == (asked, None)


def test_success_without_a_page_is_no_error(endings: Endings, request_: Request) -> None:
    visit_with(request_)
    StatusMiddleware(context_of(endings), Errors()).process_response(request_, answer(204))
    assert endings.ended is not None
    assert (endings.ended.outcome, endings.ended.status) == (UrlOutcome.NOT_INDEXED, 204)


class Robots:
    """The rules of the only site, known once they were fetched."""

    def __init__(self, rules: RobotsRules, silence: Failure | None = None) -> None:
        self._rules = rules
        self._silence = silence
        self.fetched = 0

    def known(self, url: str) -> RobotsRules | None:
        return self._rules if self.fetched else None

    async def fetch(self, url: str) -> RobotsRules:
        self.fetched += 1
        return self._rules

    def silence(self, url: str) -> Failure | None:
        return self._silence


def test_a_page_that_robots_txt_forbids_is_not_asked_for(endings: Endings, request_: Request) -> None:
    visit, robots = visit_with(request_), Robots(RobotsRules.parse("User-agent: *\nDisallow: /page"))
    middleware = RobotsMiddleware(robots, VisitGate(context_of(endings), robots.silence, lambda *_: None))
    with pytest.raises(IgnoreRequest):
        asyncio.run(middleware.process_request(request_))
    assert endings.ended is not None
    assert (endings.ended.outcome, endings.ended.status) == (UrlOutcome.ROBOTS, StatusCode.NOT_CRAWLED)
    assert not visit.requested
    asyncio.run(middleware.process_request(Request("http://h.example/open", meta=dict(request_.meta))))
    assert robots.fetched == 1, "rules that are known are not fetched again"


def test_the_error_of_a_silent_server_counts_for_the_page(endings: Endings, request_: Request) -> None:
    visit_with(request_)
    silence = Failure(
        UrlOutcome.NETWORK_ERROR, StatusCode.READ_TIMEOUT, Cause(CauseCode.TIMEOUT), retryable=True
    )
    told: list[object] = []
    rules = RobotsRules.deny_all("no answer")
    robots = Robots(rules, silence)
    end_unasked = lambda _, failure, reason: told.extend([failure, reason])  # noqa: E731
    middleware = RobotsMiddleware(robots, VisitGate(context_of(endings), robots.silence, end_unasked))
    with pytest.raises(IgnoreRequest):
        asyncio.run(middleware.process_request(request_))
    assert (told[:1], endings.ended) == ([silence], None)


class Filters:
    """Filters that deny one address."""

    needs_address = True

    def judge(self, url: str, depth: int, address: str) -> FilterViews:
        denied = address == "192.0.2.7"
        cause = Cause(CauseCode.FILTER, "generation", "denied") if denied else NO_CAUSE
        return FilterViews(cast("Any", SimpleNamespace()), None, None, denied, cause)


@pytest.mark.parametrize(("address", "denied"), [("192.0.2.7", True), ("192.0.2.8", False)])
def test_a_url_that_both_filters_deny_is_not_asked_for(
    endings: Endings, request_: Request, address: str, denied: bool
) -> None:
    context, visit = context_of(endings), visit_with(request_)
    judged: list[Visit] = []
    found: Future[tuple[str, ...]] = Future()
    found.set_result((address,))
    middleware = FilterMiddleware(context, Filters(), judged.append, lambda host: found)
    try:
        asyncio.run(middleware.process_request(request_))
    except IgnoreRequest:
        assert denied
    assert judged == [visit]
    assert (endings.ended is not None, context.report.rejected_by["generation"]) == (denied, int(denied))
