"""The first page of an entry, asked for once without it: what visitors get there tells later who is not let in.

An *entry* is what a definition names to let a crawl in: a log-in, headers of a site, or a client certificate.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import TextResponse
from scrapy.responsetypes import responsetypes
from scrapy.utils.gz import gunzip

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.errors import StateError, WorkError
from ultracrawl.rules.access.visitors import Likeness, VisitorPage
from ultracrawl.run.transport.headers import header_of, url_in_header
from ultracrawl.run.transport.outgoing import REPEATABLE, VISITOR, Send
from ultracrawl.run.visit import page_visit_of, visit_of
from ultracrawl.stores.source_notes.let_in import LET_IN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

    from ultracrawl.run.visit import Visit
    from ultracrawl.stores.port.notes import Notes

FIRST_PAGES = 3
"""So many pages of an entry a run asks for without it, and then each time that the number of pages has doubled."""
PROOF_SECONDS = 60.0
"""So long it is not asked again whether an entry lets in."""
MAX_BODY_BYTES = 1 << 20
"""A longer page is not compared with others, nor searched for forms."""
MAX_ANSWER_BYTES = 4 << 20
"""A longer answer at a first page is not read."""
_REFUSALS = frozenset({400, 401, 403})
_GONE = frozenset({404, 410})
_GZIP = frozenset({b"gzip", b"x-gzip"})


def page_of(request: Request) -> Visit | None:
    """Return the visit of a request for a page; None for robots.txt, sitemaps, parts of pages and foreign requests."""
    visit = visit_of(request)
    return visit if visit is not None and visit.sitemap is None else None


def readable(response: Response) -> Response:
    """Return a response with its body decoded; one that cannot be decoded has no text."""
    coding = response.headers.get("Content-Encoding")
    if coding is None:
        return response
    headers = response.headers.copy()
    headers.pop("Content-Encoding")
    body = b""
    if coding.strip().lower() in _GZIP:
        try:
            body = gunzip(response.body, max_size=MAX_BODY_BYTES)
        except (OSError, EOFError, ValueError):
            body = b""
    kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
    return kind(response.url, status=response.status, headers=headers, body=body)


def html_of(response: Response) -> bytes:
    """Return the body of a decoded response; empty if it is no text, or too long."""
    is_short = isinstance(response, TextResponse) and len(response.body) <= MAX_BODY_BYTES
    return response.body if is_short else b""


def is_refusal(response: Response) -> bool:
    """Whether a status refuses who asks. 401 with a challenge asks for the password of `authentication` instead."""
    return response.status in _REFUSALS and not header_of(response, "WWW-Authenticate")


@dataclass(slots=True)
class LetIn:
    """What is known of one entry over the runs of a source."""

    page: VisitorPage | None = None
    """Its first page as visitors see it; None until one was found that differs for them."""
    worked: bool = False
    """Whether it ever let the crawl in."""
    failed: float = 0.0
    """Since when it fails, in seconds since the epoch; 0 while it works, and if it never did."""


@dataclass(slots=True)
class LetInMemory:
    """What is known of the entries of a source, in its notes; without notes, in memory for one run."""

    notes: Callable[[], Notes | None]
    note_problem: Callable[[WorkError], None]
    clock: Callable[[], float] = time.time
    has_documents: Callable[[], bool] = lambda: False
    """Whether the source has documents; if it has, and no note, its log-ins worked before there were notes."""
    _worked: bool = field(default=False, init=False)
    _entries: dict[str, LetIn] | None = field(default=None, init=False)

    def of(self, entry: str) -> LetIn:
        """Return what is known of an entry."""
        if self._entries is None:
            self._entries = self._load()
        return self._entries.setdefault(entry, LetIn(worked=self._worked))

    def save(self) -> None:
        """Store what is known; a note that cannot be written is reported, and the crawl goes on."""
        entries = self._entries or {}
        text = json.dumps(
            {
                name: {
                    "page": known.page and known.page.as_dict(),
                    "worked": known.worked,
                    "failed": known.failed,
                }
                for name, known in sorted(entries.items())
            }
        )
        try:
            if (notes := self.notes()) is not None:
                notes.write(LET_IN, text.encode())
        except StateError as error:
            self.note_problem(error)

    def _load(self) -> dict[str, LetIn]:
        try:
            notes = self.notes()
            text = notes.read(LET_IN) if notes is not None else None
            self._worked = text is None and self.has_documents()
            stored = json.loads(text or "{}")
            return {name: _let_in(**fields) for name, fields in stored.items()}
        except StateError as error:
            self.note_problem(error)
        except (TypeError, ValueError, AttributeError):
            pass  # a note of another version
        return {}


def _let_in(page: Mapping[str, object] | None, *, worked: bool, failed: float) -> LetIn:
    return LetIn(None if page is None else VisitorPage.from_dict(page), worked, failed)


class FirstPage:
    """The first page of one entry that visitors get otherwise."""

    def __init__(
        self, memory: LetInMemory, entry: str, headers: Mapping[str, str], covers: Callable[[str], bool]
    ) -> None:
        """`headers` are those of every request of the source; `covers`: whether the entry is used for a URL."""
        self._memory = memory
        self._entry = entry
        self.headers = dict(headers)
        self._covers = covers
        self._pages = 0
        """Pages that were let in since there is no first page."""
        self._is_stale = False
        """Whether the first page is gone, or open to visitors: it proves nothing, and another one is looked for."""
        self._proved: float | None = None
        """When it was last seen that the entry lets in; None if that is in doubt."""
        self._compared: float | None = None
        """When it was last seen that visitors get something else at the first page."""

    @property
    def clock(self) -> Callable[[], float]:
        """Return the time in seconds since the epoch."""
        return self._memory.clock

    @property
    def known(self) -> LetIn:
        """What is known of the entry."""
        return self._memory.of(self._entry)

    @property
    def page(self) -> VisitorPage | None:
        """Its first page as visitors see it; None if there is none yet where the entry is used now."""
        page = self.known.page
        return page if page is not None and self._covers(page.url) else None

    def save(self) -> None:
        """Store changes of `known`."""
        self._memory.save()

    def likeness(self, response: Response) -> Likeness:
        """Return how a decoded response resembles what visitors get at the first page."""
        return Likeness.NONE if self.page is None else _likeness(self.page, response)

    async def learn(self, request: Request, response: Response, send: Send) -> None:
        """Ask for a page, or data of one, that was let in without the entry, unless the first page is known.

        It becomes the first page if visitors get something else there, and whoever is let in never gets that.
        """
        response = readable(response)
        if (self.page is not None and not self._is_stale) or response.status != 200:
            return
        if request.method not in REPEATABLE or page_visit_of(request) is None:
            return
        self._pages += 1
        is_due = self._pages <= FIRST_PAGES or not self._pages & (self._pages - 1)
        if not is_due or len(response.body) > MAX_BODY_BYTES:
            return
        before = self.known.page
        page = await self._as_visitor(request.url, send)
        if page is None or page.status >= 500 or page.status == 429:
            return
        if _likeness(page, response) is not Likeness.NONE or not await self._is_stable(page, send):
            return
        if self.known.page is before:
            self.known.page = page
            self._is_stale, self._pages = False, 0
            self._memory.save()

    async def lets_in(
        self, send: Send, is_refused: Callable[[Response], bool], *, doubt: bool = False
    ) -> bool | None:
        """Ask for the first page with the entry, and return whether it lets in; None if that is not known.

        Whoever was let in is asked again after `PROOF_SECONDS`, or with `doubt`.
        """
        if self._is_recent(self._proved) and not doubt:
            return True
        self._proved = None
        page = self.page
        if page is None or self._is_stale:
            return None
        answer = await self._ask(page.url, send, {})
        if answer is None:
            return None
        if is_refused(answer):
            return False
        if answer.status == 200 and not await self._is_public(answer, send):
            self._proved = self.clock()
            return True
        self._is_stale = answer.status == 200 or answer.status in _GONE
        return None

    def _is_recent(self, when: float | None) -> bool:
        return when is not None and self.clock() - when < PROOF_SECONDS

    def forget_proof(self) -> None:
        """Have it asked again whether the entry lets in."""
        self._proved = None

    async def ask(self, url: str, send: Send) -> Response | None:
        """Ask for any page with the entry; None without a response."""
        return await self._ask(url, send, {})

    async def _is_stable(self, page: VisitorPage, send: Send) -> bool:
        """Whether visitors get the same again, and whoever is let in something else: some texts rotate."""
        seen = await self._as_visitor(page.url, send)
        if seen is None or replace(seen, size=page.size) != page:
            return False
        again = await self._ask(page.url, send, {})
        return again is not None and again.status == 200 and _likeness(page, again) is Likeness.NONE

    async def _is_public(self, answer: Response, send: Send) -> bool:
        if self._is_recent(self._compared):
            return False
        seen = await self._as_visitor(answer.url, send)
        is_same = seen is not None and seen.status == 200 and _likeness(seen, answer) is not Likeness.NONE
        self._compared = None if is_same or seen is None else self.clock()
        return is_same

    async def _as_visitor(self, url: str, send: Send) -> VisitorPage | None:
        seen = await self._ask(url, send, {VISITOR: True})
        if seen is None:
            return None
        return VisitorPage.of(seen.url, seen.status, url_in_header(seen, "Location"), html_of(seen))

    async def _ask(self, url: str, send: Send, meta: Mapping[str, object]) -> Response | None:
        headers = self.headers | {"Accept-Encoding": "identity"}
        asked = Request(url, headers=headers, meta={"download_maxsize": MAX_ANSWER_BYTES, **meta})
        try:
            return readable(await send(asked))
        except Exception:  # whatever a handler raises: it says nothing about who is let in
            return None


def _likeness(page: VisitorPage, response: Response) -> Likeness:
    return page.likeness(
        response.url, response.status, url_in_header(response, "Location"), html_of(response)
    )
