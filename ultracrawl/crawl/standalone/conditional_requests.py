"""Conditional requests of a spider without a definition: answers are kept, and stand in for pages that did not change.

Everything is kept and compared as it comes from the network, before Scrapy decodes and follows anything, so that a page
that did not change goes the way that it went when it was fetched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Headers, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.crawl.standalone.definition import refuse
from ultracrawl.crawl.standalone.state import CrawlerState, state_of
from ultracrawl.crawl.transport.headers import set_header
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.rules.recrawl.change import validator_headers
from ultracrawl.stores.sqlite.answers.spider_state import KnownAnswer

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

FLAG = "not-modified"
"""The flag of an answer whose body is the stored one."""
SETTING = "ULTRACRAWL_NOT_MODIFIED"
_SENT = "ultracrawl_conditions"
_OWN_CONDITIONS = (
    "If-None-Match",
    "If-Modified-Since",
    "If-Match",
    "If-Unmodified-Since",
    "If-Range",
    "Range",
)
_NEVER_KEPT = frozenset({b"set-cookie", b"set-cookie2", b"connection", b"keep-alive", b"transfer-encoding"})
"""Headers that let whoever has them into a session, and those of one connection."""
_OF_THE_BODY = (b"content-", b"transfer-encoding", b"connection", b"keep-alive")
_GONE = frozenset({404, 410})
_UNSOUND = frozenset({"cached", "dataloss", "download_stopped", "partial"})
"""Flags of answers that are not from the server, or not whole."""
_CODING = "accept-encoding"
"""A header that an answer may vary by without being another one: what is kept can be decoded."""


class NotModified(StrEnum):
    """What becomes of a page that did not change."""

    REPLAY = "replay"
    DROP = "drop"


class ConditionalRequests:
    """Knows the validators of pages and keeps their bodies, as far as that is safe.

    Requests with credentials, a body, a method other than GET, a range or conditions of their own are left alone, and
    so is what says `dont_cache`, `no-store` or `Vary: *`. A stored answer counts for requests alone that send what it
    varies by. Where cookies are sent, then or now, an entity tag is asked for and never a date, because pages of two
    users may be of one date; what is `private` or varies by cookies is not kept then.
    """

    def __init__(
        self,
        state: CrawlerState,
        fingerprint: Callable[[Request], bytes],
        stats: StatsCollector,
        not_modified: NotModified = NotModified.REPLAY,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`fingerprint` tells requests apart, as Scrapy does."""
        self._state = state
        self._fingerprint = fingerprint
        self._stats = stats
        self._drops = not_modified is NotModified.DROP
        self._clock = clock

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it for a crawler. Raises `NotConfigured` if no folder for its state is named."""
        state, wish = state_of(crawler), crawler.settings.get(SETTING) or NotModified.REPLAY
        if wish not in list(NotModified):
            refuse(
                crawler,
                f"settings - {SETTING} - `{wish}` is not a known value; write {' or '.join(NotModified)}",
            )
            raise NotConfigured(f"{SETTING} has a mistake")
        assert crawler.stats is not None
        assert crawler.request_fingerprinter is not None
        return cls(state, crawler.request_fingerprinter.fingerprint, crawler.stats, NotModified(wish))

    # ---- out

    def add_validators(self, request: Request) -> None:
        """Add the validators of the answer that is kept for a request."""
        self._withdraw(request)
        if not _is_plain(request):
            return
        known = self._state.known_answer(self._fingerprint(request))
        if known is None or not self._counts(known, request):
            return
        by_tag_alone = known.personal or "Cookie" in request.headers
        sent = validator_headers(known.etag, "" if by_tag_alone else known.last_modified)
        for name, value in sent.items():
            set_header(request, name, value)
        if sent:
            request.meta[_SENT] = sent
            self._stats.inc_value("ultracrawl/conditional_requests")

    def _counts(self, known: KnownAnswer, request: Request) -> bool:
        if known.vary != _varying(request, (name for name, _ in known.vary)):
            return False
        # A page that is dropped is lost, unless the crawl that saw it came to its end.
        return known.finished or not self._drops_page(request)

    def _drops_page(self, request: Request) -> bool:
        return self._drops and request.callback is not NO_CALLBACK

    @staticmethod
    def _withdraw(request: Request) -> bool:
        """Take back what was added: a redirect or another attempt is made of this request, for another answer."""
        sent: dict[str, str] = request.meta.pop(_SENT, {})
        for name, value in sent.items():
            if request.headers.get(name) == value.encode("latin-1"):
                del request.headers[name]
        return bool(sent)

    # ---- back

    def judge_answer(self, request: Request, response: Response) -> Response | Request:
        """Keep an answer; let the kept one, or nothing, take the place of 304."""
        asked = self._withdraw(request)
        if response.status == 304:
            return self._not_modified(request, response) if asked else response
        if not _is_plain(request) or not _UNSOUND.isdisjoint(response.flags):
            return response
        if response.status == 200:
            self._keep(request, response)
        elif response.status in _GONE:
            self._state.forget_answer(self._fingerprint(request))
        return response

    def _not_modified(self, request: Request, response: Response) -> Response | Request:
        self._stats.inc_value("ultracrawl/not_modified")
        if self._drops_page(request):
            raise IgnoreRequest("not modified")
        key = self._fingerprint(request)
        kept = self._state.read_answer(key)
        if kept is None:
            self._state.forget_answer(key)
            return request.replace(dont_filter=True)
        headers = Headers()
        for name, value in kept.headers:
            headers.appendlist(name, value.encode("latin-1"))
        for name in response.headers:
            if not name.lower().startswith(_OF_THE_BODY):
                headers.setlist(name, response.headers.getlist(name))
        made = responsetypes.from_args(headers=headers, url=response.url, body=kept.body)
        return made(
            response.url,
            headers=headers,
            body=kept.body,
            flags=[*response.flags, FLAG],
            certificate=response.certificate,
            ip_address=response.ip_address,
            protocol=response.protocol,
        )

    def _keep(self, request: Request, response: Response) -> None:
        key, known = self._fingerprint(request), _known(request, response)
        if known is None:
            self._state.forget_answer(key)
            return
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
            if name.lower() not in _NEVER_KEPT
        )
        self._state.keep_answer(key, known, StoredAnswer(response.url, self._clock(), headers, response.body))


def _is_plain(request: Request) -> bool:
    """Return whether an answer depends on nothing but what is compared."""
    if request.method != "GET" or request.body or request.meta.get("dont_cache"):
        return False
    if urlparse_cached(request).username is not None:
        return False
    return "Authorization" not in request.headers and not any(
        name in request.headers for name in _OWN_CONDITIONS
    )


def _known(request: Request, response: Response) -> KnownAnswer | None:
    """Return what is to be known of an answer, None if it may not be kept or can never be asked for."""
    directives, vary = _words(response, "Cache-Control"), _words(response, "Vary")
    personal = "Cookie" in request.headers
    if (
        "no-store" in directives
        or "*" in vary
        or (personal and ("private" in directives or "cookie" in vary))
    ):
        return None
    etag, last_modified = (_text(response, name) for name in ("ETag", "Last-Modified"))
    if not validator_headers(etag, "" if personal else last_modified):
        return None
    return KnownAnswer(etag, last_modified, _varying(request, sorted(vary - {_CODING})), personal)


def _words(response: Response, name: str) -> set[str]:
    return {word.partition("=")[0].strip().lower() for word in _text(response, name).split(",")} - {""}


def _text(response: Response, name: str) -> str:
    return b",".join(response.headers.getlist(name)).decode("latin-1")


def _varying(request: Request, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return digests of the request headers of some names; their values may be secrets."""
    return tuple((name, sha256(b"\n".join(request.headers.getlist(name))).hexdigest()[:16]) for name in names)
