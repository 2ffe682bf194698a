"""Optional logs of single events, one file each (FAST 5.6)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from ultracrawl.dataclass import dataclass, fields
from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.model import CauseCode, StatusCode, UrlOutcome
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.rules.frontier.site_registry import SlotChange
from ultracrawl.rules.recrawl.adaptive import Choice, KnownPage, ScoreParts, Scorer
from ultracrawl.rules.recrawl.failure_policy import INTERNAL, NET, TIMEOUT
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.run.hooks import Feature
from ultracrawl.run.logs.log_files import MAX_TEXT_LENGTH, ColumnLog, ElementLog, printable
from ultracrawl.run.transport.outgoing import LoginRequest

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

    from ultracrawl.run.results import FetchedPart
    from ultracrawl.run.transport.outgoing import Send
    from ultracrawl.run.visit import Visit

_WORDS = {
    UrlOutcome.NEW: "new",
    UrlOutcome.PENDING: "new",
    UrlOutcome.MODIFIED: "changed",
    UrlOutcome.HELD_BACK: "changed",
    UrlOutcome.REINDEXED: "unchanged",
    UrlOutcome.UNMODIFIED: "unchanged",
    UrlOutcome.NOT_MODIFIED: "unchanged",
    UrlOutcome.LIST: "list",
    UrlOutcome.REDIRECTED: "redirect",
    UrlOutcome.DUPLICATE: "duplicate",
    UrlOutcome.GONE: "error",
    UrlOutcome.HTTP_ERROR: "error",
    UrlOutcome.NETWORK_ERROR: "error",
    UrlOutcome.FAILED: "error",
}
"""The result of a download in the fetch log, by outcome; others are `discarded`."""
_DECISIONS = _WORDS | {UrlOutcome.REINDEXED: "changed"}
"""The decision in the log of items: unlike an `unchanged` item, one that is indexed again is fed to the index."""
_PROCESSED = frozenset(
    {
        UrlOutcome.NEW,
        UrlOutcome.PENDING,
        UrlOutcome.MODIFIED,
        UrlOutcome.REINDEXED,
        UrlOutcome.UNMODIFIED,
        UrlOutcome.DUPLICATE,
        UrlOutcome.NOT_INDEXED,
    }
)
"""Outcomes of items that were processed."""
_ITEMS = SUBMITTED | {UrlOutcome.PENDING}
_ERRORS = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED, UrlOutcome.GONE})
_OPERATIONS: dict[type[Change], str] = {IndexDocument: "add", Deletion: "delete", NewAnchors: "anchors"}
_PARTS = tuple(field.name for field in fields(ScoreParts))


class FetchLog(Feature):
    """One line per download: status or error class, media type, bytes, seconds, crawl depth, URI, result.

    Each failed attempt that is retried has its own line with the result `retry`, and each request of a page in the
    browser one with the result `part`.
    """

    def __init__(self, log: ColumnLog) -> None:
        self._log = log

    def visit_ended(self, visit: Visit) -> None:
        """Log the download of a visit, if there was one."""
        if visit.from_store or not visit.requested or not (visit.fetch.status or visit.outcome in _WORDS):
            return
        self._add(visit, "sitemap" if visit.sitemap is not None else _result_of(visit, _WORDS))

    def visit_retried(self, visit: Visit, error: str) -> None:
        """Log a download that will be retried; `error` is the name that error rules match."""
        self._add(visit, "retry", error)

    def part_received(self, visit: Visit, part: FetchedPart) -> None:
        """Log the download of a part of a page."""
        self._log.add(
            str(part.status) if part.status else part.error,
            part.media_type or "-",
            part.size,
            f"{part.latency:.4f}",
            visit.depth,
            part.url,
            "part",
        )

    def _add(self, visit: Visit, result: str, error: str = "") -> None:
        self._log.add(
            error or _status_of(visit) or _error_class(visit),
            visit.fetch.media_type or "-",
            visit.fetch.size,
            f"{visit.fetch.latency:.4f}",
            visit.depth,
            visit.url,
            result,
        )


def _result_of(visit: Visit, words: Mapping[UrlOutcome, str]) -> str:
    outcome = UrlOutcome.MODIFIED if visit.deferred else visit.outcome
    return words.get(outcome, "discarded") if outcome else "discarded"


def _status_of(visit: Visit) -> str:
    """Return the status of the response, of an FTP server the code of its reply; empty without a response."""
    if visit.ending is not None and visit.ending.cause.code is CauseCode.FTP_REPLY:
        return visit.ending.cause.subject[:3]
    return str(visit.fetch.status or "")


def _error_class(visit: Visit) -> str:
    if visit.outcome is UrlOutcome.FAILED:
        return INTERNAL
    timed_out = visit.ending is not None and visit.ending.status == StatusCode.READ_TIMEOUT
    return TIMEOUT if timed_out else NET


class ItemLog(Feature):
    """One line per item: decision, status code, media type, URI and cause; as columns or as an XML element."""

    def __init__(self, log: ColumnLog | ElementLog) -> None:
        self._log = log

    def visit_ended(self, visit: Visit) -> None:
        """Log the decision on a processed item."""
        ending = visit.ending
        if ending is None or visit.outcome not in _PROCESSED:
            return
        decision = _result_of(visit, _DECISIONS)
        if isinstance(self._log, ElementLog):
            fields = {"outcome": decision, "status": str(ending.status), "type": visit.fetch.media_type}
            fields |= {"uri": visit.display_url, "reason": ending.cause.logged}
            named = " ".join(f"{name}={_quoted(value)}" for name, value in fields.items() if value)
            self._log.add_element("item", named)
        else:
            self._log.add(
                decision, ending.status, visit.fetch.media_type or "-", visit.display_url, ending.cause.logged
            )


def _quoted(text: str) -> str:
    return quoteattr(printable(text[:MAX_TEXT_LENGTH]))


@dataclass(slots=True)
class _Numbers:
    """The counts of a site in this run."""

    fetched: int = 0
    size: int = 0
    items: int = 0
    errors: int = 0


class SiteLog(Feature):
    """One line per event of a site: event, site, and its downloads, bytes, new items and errors so far.

    Events: `start` (first slot of a new site), `refresh` (first slot of a site of an earlier run), `idle` (queue is
    empty), `suspend` (lost its slot to other sites, or was given up), `resume` (got a slot again), `done` (run ended).
    """

    def __init__(self, log: ColumnLog, known: Callable[[str], bool], given_up: Container[str]) -> None:
        self._log = log
        self._known = known
        self._given_up = given_up
        self._sites: dict[str, _Numbers] = {}

    def moved(self, site: str, change: SlotChange) -> None:
        """Log that a site got or lost its slot."""
        if change is SlotChange.GRANTED:
            first = site not in self._sites
            self._add("resume" if not first else "refresh" if self._known(site) else "start", site)
        else:
            self._add("suspend" if change is SlotChange.YIELDED or site in self._given_up else "idle", site)

    def visit_ended(self, visit: Visit) -> None:
        """Count a visit that ended."""
        if not visit.requested or not visit.entry.seq:
            return
        numbers = self._of(visit.entry.site)
        numbers.fetched += bool(visit.fetch.status)
        numbers.size += visit.fetch.size
        numbers.items += visit.deferred or visit.outcome in _ITEMS
        numbers.errors += visit.outcome in _ERRORS

    def part_received(self, visit: Visit, part: FetchedPart) -> None:
        """Count a part of a page at its own site, if that site has had a slot."""
        numbers = self._sites.get(site_of(part.url))
        if numbers is not None:
            numbers.fetched += bool(part.status)
            numbers.size += part.size
            numbers.errors += bool(part.error)

    def note_run_end(self) -> None:
        """Log the end of the run for each site."""
        for site in self._sites:
            self._add("done", site)

    def _of(self, site: str) -> _Numbers:
        numbers = self._sites.get(site)
        if numbers is None:
            numbers = self._sites[site] = _Numbers()
        return numbers

    def _add(self, event: str, site: str) -> None:
        numbers = self._of(site)
        self._log.add(event, site, numbers.fetched, numbers.size, numbers.items, numbers.errors)


class FeedLog:
    """One line per index change: destination, `add`, `delete` or `anchors` (new anchor texts), URI, result.

    The result is `indexed` once the change is committed, or the problem. Changes are pairs of URL key and change, as
    the document cache yields them.
    """

    def __init__(self, log: ColumnLog, source: str) -> None:
        self._log = log
        self._source = source

    def indexed(self, destination: str, changes: Iterable[tuple[int, Change]]) -> None:
        """Log committed changes; an empty destination is the index of the project."""
        self._note(destination, changes, "indexed")

    def refused(self, destination: str, changes: Iterable[tuple[int, Change]], reason: str) -> None:
        """Log changes that could not be indexed; they stay in the document cache."""
        self._note(destination, changes, f"not indexed: {reason}")

    def _note(self, destination: str, changes: Iterable[tuple[int, Change]], result: str) -> None:
        for _, change in changes:
            self._log.add(destination or self._source, _OPERATIONS[type(change)], change.url, result)


class ScoreLog:
    """One line per chosen URL of a minor cycle: `known` or `new`, score, URL, and the part of each scorer."""

    def __init__(self, log: ColumnLog) -> None:
        self._log = log

    def chosen(self, choice: Choice, pages: Iterable[KnownPage], scorer: Scorer) -> None:
        """Log the pages of a choice, the best first; `pages` are all known pages."""
        order = {page.key: number for number, page in enumerate(choice.pages)}
        chosen = sorted((page for page in pages if page.key in order), key=lambda page: order[page.key])
        for page in chosen:
            parts = scorer.parts(page)
            columns = (f"{name}={getattr(parts, name):.3f}" for name in _PARTS)
            kind = "known" if page.last_fetched else "new"
            self._log.add(kind, f"{parts.total:.3f}", page.url, *columns)


MASK = "****"
SECRET = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "authentication-info",
        "proxy-authentication-info",
        "cookie",
        "cookie2",
        "set-cookie",
        "set-cookie2",
    }
)
"""Headers that hold credentials."""
_SECRET_PARTS = ("auth", "token", "secret", "passw", "api-key", "apikey", "session", "credential")
"""Parts of the names of other headers whose values are masked."""
_WITH_URLS = frozenset({"location", "content-location", "referer", "refresh", "link"})
"""Headers that may repeat the URL of a login, whose query may hold a password."""


class HeaderLog:
    """The innermost layer of the auth chain; logs a line for each request and each response.

    `own` are the names of headers that the definition adds to requests: usually keys and tokens, so they are masked
    too. The URLs of a login are logged without their queries.
    """

    def __init__(self, log: ColumnLog, own: Iterable[str] = ()) -> None:
        self._log = log
        self._secret = SECRET | {name.lower() for name in own}

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request and log its headers and those of the response."""
        private = isinstance(request, LoginRequest)
        show = _without_query if private else _unchanged
        self._log.add("request", request.method, show(request.url), *self._lines(request.headers, show))
        response = await send(request)
        lines = self._lines(response.headers, show)
        self._log.add("answer", response.status, show(response.url), *lines)
        return response

    def _lines(self, headers: Headers, show: Callable[[str], str]) -> Iterator[str]:
        for raw, values in headers.items():
            name = raw.decode("latin-1")
            secret, has_url = self._is_secret(name.lower()), name.lower() in _WITH_URLS
            for value in values:
                text = value.decode("latin-1")
                yield f"{name}: {MASK if secret else show(text) if has_url else text}"

    def _is_secret(self, name: str) -> bool:
        return name in self._secret or any(part in name for part in _SECRET_PARTS)


def _unchanged(text: str) -> str:
    return text


def _without_query(text: str) -> str:
    return text.partition("?")[0]
