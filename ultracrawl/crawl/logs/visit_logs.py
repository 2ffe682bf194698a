"""One line for each download, and one for each item that passed post-processing (FAST 5.6 fetch, postprocess)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from ultracrawl.crawl.logs.appended import LONGEST_LINE, printable
from ultracrawl.model import StatusCode, UrlOutcome
from ultracrawl.rules.recrawl.failure_policy import INTERNAL, NET, TIMEOUT

if TYPE_CHECKING:
    from ultracrawl.crawl.logs.columns import ColumnLog
    from ultracrawl.crawl.visit import Visit

_WORDS = {
    UrlOutcome.NEW: "new",
    UrlOutcome.PENDING: "new",
    UrlOutcome.MODIFIED: "changed",
    UrlOutcome.UNMODIFIED: "unchanged",
    UrlOutcome.NOT_MODIFIED: "unchanged",
    UrlOutcome.REDIRECTED: "redirect",
    UrlOutcome.DUPLICATE: "duplicate",
    UrlOutcome.GONE: "error",
    UrlOutcome.HTTP_ERROR: "error",
    UrlOutcome.NETWORK_ERROR: "error",
    UrlOutcome.FAILED: "error",
}
"""What became of a download; everything else is discarded."""
_PROCESSED = frozenset(
    {
        UrlOutcome.NEW,
        UrlOutcome.PENDING,
        UrlOutcome.MODIFIED,
        UrlOutcome.UNMODIFIED,
        UrlOutcome.DUPLICATE,
        UrlOutcome.NOT_INDEXED,
    }
)
"""Outcomes of items that were read, whatever was decided about them."""


class FetchLog:
    """Has of each download: status or class of the error, type, bytes, seconds, hops, URI, what became of it.

    A download that failed and is tried again has a line of its own, with `retry`.
    """

    def __init__(self, log: ColumnLog) -> None:
        self._log = log

    def note_visit(self, visit: Visit) -> None:
        """Note how a download ended; a visit for which nothing was asked has none."""
        if visit.stored or not visit.asked or not (visit.fetch.status or visit.outcome in _WORDS):
            return
        self._add(visit, "sitemap" if visit.sitemap is not None else _became(visit))

    def again(self, visit: Visit, error: str) -> None:
        """Note a download that is tried again; `error` is the name by which error rules know it."""
        self._add(visit, "retry", error)

    def _add(self, visit: Visit, became: str, error: str = "") -> None:
        self._log.add(
            str(visit.fetch.status) if visit.fetch.status else error or _error_class(visit),
            visit.fetch.media_type or "-",
            visit.fetch.size,
            f"{visit.fetch.latency:.4f}",
            visit.depth,
            visit.url,
            became,
        )


def _became(visit: Visit) -> str:
    return _WORDS.get(visit.outcome, "discarded") if visit.outcome else "discarded"


def _error_class(visit: Visit) -> str:
    if visit.outcome is UrlOutcome.FAILED:
        return INTERNAL
    timed_out = visit.ending is not None and visit.ending.status == StatusCode.READ_TIMEOUT
    return TIMEOUT if timed_out else NET


class ItemLog:
    """Has of each item: what was decided, status code, type, URI, and why; as text, or as an XML element a line."""

    def __init__(self, log: ColumnLog, *, xml: bool) -> None:
        self._log = log
        self._xml = xml

    def note_visit(self, visit: Visit) -> None:
        """Note what was decided about an item that was read."""
        ending = visit.ending
        if ending is None or visit.outcome not in _PROCESSED:
            return
        what = _became(visit)
        if self._xml:
            fields = {"outcome": what, "status": str(ending.status), "type": visit.fetch.media_type}
            fields |= {"uri": visit.shown_url, "reason": str(ending.cause)}
            named = " ".join(f"{name}={_quoted(value)}" for name, value in fields.items() if value)
            self._log.add_element("item", named)
        else:
            self._log.add(
                what, ending.status, visit.fetch.media_type or "-", visit.shown_url, str(ending.cause)
            )


def _quoted(text: str) -> str:
    return quoteattr(printable(text[:LONGEST_LINE]))
