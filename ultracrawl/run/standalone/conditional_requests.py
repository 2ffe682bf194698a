"""Conditional requests of a spider without a definition: stored responses replace pages that did not change.

Responses are stored and compared as they come from the network, before Scrapy decodes and follows anything, so that an
unchanged page takes the same way as when it was fetched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Headers, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.model.answer import StoredAnswer
from ultracrawl.rules.recrawl.change import validator_headers
from ultracrawl.run.standalone.definition import refuse
from ultracrawl.run.standalone.state import CrawlerState, state_of
from ultracrawl.run.transport.headers import set_header
from ultracrawl.stores.sqlite.answers.spider_state import KnownAnswer

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

FLAG = "not-modified"
"""The flag of a response whose body is the stored one."""
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
_UNSTORED_HEADERS = frozenset(
    {b"set-cookie", b"set-cookie2", b"connection", b"keep-alive", b"transfer-encoding"}
)
"""Headers that give access to a session, and headers of a single connection."""
_BODY_HEADER_PREFIXES = (b"content-", b"transfer-encoding", b"connection", b"keep-alive")
_GONE = frozenset({404, 410})
_INCOMPLETE_FLAGS = frozenset({"cached", "dataloss", "download_stopped", "partial"})
"""Flags of responses that are not from the server, or not complete."""
_ACCEPT_ENCODING = "accept-encoding"
"""A header that does not matter in `Vary`: stored bodies can be decoded."""


class NotModified(StrEnum):
    """The handling of unchanged pages."""

    REPLAY = "replay"
    DROP = "drop"


class ConditionalRequests:
    """Stores responses with their validators, as far as that is safe, and adds the validators to requests.

    Not handled are requests with credentials, a body, a method other than GET, a range or conditions of their own, and
    responses with `dont_cache`, `no-store` or `Vary: *`. A stored response counts only for requests with the same
    values of its `Vary` headers. If cookies are or were sent, only the ETag is used and never a date, because pages of
    two users may have the same date; responses that are `private` or vary by cookies are not stored then.
    """

    def __init__(
        self,
        state: CrawlerState,
        fingerprint: Callable[[Request], bytes],
        stats: StatsCollector,
        not_modified: NotModified = NotModified.REPLAY,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Initialise; `fingerprint` identifies requests as Scrapy does."""
        self._state = state
        self._fingerprint = fingerprint
        self._stats = stats
        self._drops = not_modified is NotModified.DROP
        self._clock = clock

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the component of a crawler. Raises `NotConfigured` if no folder for its state is named."""
        state, option = state_of(crawler), crawler.settings.get(SETTING) or NotModified.REPLAY
        if option not in list(NotModified):
            refuse(
                crawler,
                f"settings - {SETTING} - `{option}` is not a known value; write {' or '.join(NotModified)}",
            )
            raise NotConfigured(f"{SETTING} has a mistake")
        assert crawler.stats is not None
        assert crawler.request_fingerprinter is not None
        return cls(state, crawler.request_fingerprinter.fingerprint, crawler.stats, NotModified(option))

    # ---- requests

    def add_validators(self, request: Request) -> None:
        """Add the validators of the stored response to a request."""
        self._remove_validators(request)
        if not _is_plain(request):
            return
        known = self._state.known_answer(self._fingerprint(request))
        if known is None or not self._applies(known, request):
            return
        by_tag_alone = known.personal or "Cookie" in request.headers
        sent = validator_headers(known.etag, "" if by_tag_alone else known.last_modified)
        for name, value in sent.items():
            set_header(request, name, value)
        if sent:
            request.meta[_SENT] = sent
            self._stats.inc_value("ultracrawl/conditional_requests")

    def _applies(self, known: KnownAnswer, request: Request) -> bool:
        if known.vary != _varying(request, (name for name, _ in known.vary)):
            return False
        # A page that is dropped would be lost if the crawl that saw it did not finish.
        return known.finished or not self._drops_page(request)

    def _drops_page(self, request: Request) -> bool:
        return self._drops and request.callback is not NO_CALLBACK

    @staticmethod
    def _remove_validators(request: Request) -> bool:
        """Remove added validators: redirects and retries are made from this request for another response."""
        sent: dict[str, str] = request.meta.pop(_SENT, {})
        for name, value in sent.items():
            if request.headers.get(name) == value.encode("latin-1"):
                del request.headers[name]
        return bool(sent)

    # ---- responses

    def judge_answer(self, request: Request, response: Response) -> Response | Request:
        """Store a response; replace a 304 by the stored one, or drop it."""
        asked = self._remove_validators(request)
        if response.status == 304:
            return self._not_modified(request, response) if asked else response
        if not _is_plain(request) or not _INCOMPLETE_FLAGS.isdisjoint(response.flags):
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
            if not name.lower().startswith(_BODY_HEADER_PREFIXES):
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
            if name.lower() not in _UNSTORED_HEADERS
        )
        self._state.keep_answer(key, known, StoredAnswer(response.url, self._clock(), headers, response.body))


def _is_plain(request: Request) -> bool:
    """Return whether the response to a request depends only on what is compared."""
    if request.method != "GET" or request.body or request.meta.get("dont_cache"):
        return False
    if urlparse_cached(request).username is not None:
        return False
    return "Authorization" not in request.headers and not any(
        name in request.headers for name in _OWN_CONDITIONS
    )


def _known(request: Request, response: Response) -> KnownAnswer | None:
    """Return the validators and `Vary` digests of a response, None if it may not be stored or has no validators."""
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
    return KnownAnswer(etag, last_modified, _varying(request, sorted(vary - {_ACCEPT_ENCODING})), personal)


def _words(response: Response, name: str) -> set[str]:
    return {word.partition("=")[0].strip().lower() for word in _text(response, name).split(",")} - {""}


def _text(response: Response, name: str) -> str:
    return b",".join(response.headers.getlist(name)).decode("latin-1")


def _varying(request: Request, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return digests of request headers, since their values may be secrets."""
    return tuple((name, sha256(b"\n".join(request.headers.getlist(name))).hexdigest()[:16]) for name in names)
