"""The logs of single events of a crawl that a source may keep, each in a file of its own (FAST 5.6)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from ultracrawl.crawl.logs.appended import LONGEST_LINE, ColumnLog, log_path, printable
from ultracrawl.crawl.logs.header_log import HeaderLog
from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.model import StatusCode, UrlOutcome
from ultracrawl.rules.frontier.site_registry import SlotChange
from ultracrawl.rules.recrawl.adaptive import ScoreParts
from ultracrawl.rules.recrawl.failure_policy import INTERNAL, NET, TIMEOUT

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.rules.frontier.site_registry import SlotListener
    from ultracrawl.rules.recrawl.adaptive import Choice, KnownPage, Scorer

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
_ITEMS = frozenset({UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.PENDING})
_ERRORS = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED, UrlOutcome.GONE})
_OPERATIONS: dict[type[Change], str] = {IndexDocument: "add", Deletion: "delete", NewAnchors: "anchors"}
_PARTS = tuple(field.name for field in fields(ScoreParts))


class FetchLog:
    """Has of each download: status or class of the error, type, bytes, seconds, hops, URI, what became of it.

    A download that failed and is tried again has a line of its own, with `retry`.
    """

    def __init__(self, log: ColumnLog) -> None:
        self._log = log

    def note_visit(self, visit: Visit) -> None:
        """Note how a download ended; a visit for which nothing was asked has none."""
        if visit.from_store or not visit.requested or not (visit.fetch.status or visit.outcome in _WORDS):
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
            fields |= {"uri": visit.display_url, "reason": str(ending.cause)}
            named = " ".join(f"{name}={_quoted(value)}" for name, value in fields.items() if value)
            self._log.add_element("item", named)
        else:
            self._log.add(
                what, ending.status, visit.fetch.media_type or "-", visit.display_url, str(ending.cause)
            )


def _quoted(text: str) -> str:
    return quoteattr(printable(text[:LONGEST_LINE]))


@dataclass(slots=True)
class _Numbers:
    """What a site delivered in this run."""

    fetched: int = 0
    size: int = 0
    items: int = 0
    errors: int = 0


class SiteLog:
    """Has a line for each event of a site: what happened, its name, downloads, bytes, new items, errors so far.

    `start` is the first place of a site in a run, `refresh` that of a site that an earlier run has asked; `idle` is a
    queue that has run empty, `suspend` a site that waits for others or was given up, `resume` one that goes on,
    `done` its end in this run.
    """

    def __init__(self, log: ColumnLog, known: Callable[[str], bool], given_up: Container[str]) -> None:
        self._log = log
        self._known = known
        self._given_up = given_up
        self._sites: dict[str, _Numbers] = {}

    def moved(self, site: str, change: SlotChange) -> None:
        """Note that a site got its place, or lost it."""
        if change is SlotChange.GRANTED:
            first = site not in self._sites
            self._add("resume" if not first else "refresh" if self._known(site) else "start", site)
        else:
            self._add("suspend" if change is SlotChange.YIELDED or site in self._given_up else "idle", site)

    def note_visit(self, visit: Visit) -> None:
        """Count the end of a visit."""
        if not visit.requested or not visit.entry.seq:
            return
        numbers = self._of(visit.entry.site)
        numbers.fetched += bool(visit.fetch.status)
        numbers.size += visit.fetch.size
        numbers.items += visit.outcome in _ITEMS
        numbers.errors += visit.outcome in _ERRORS

    def note_run_end(self) -> None:
        """Note the end of the run for each site."""
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
    """Has of each change: destination, `add`, `delete` or `anchors` (other texts of links), URI, and the result.

    The result is `indexed` once the change is committed, or the problem.

    Changes are pairs of key and change, as the document cache gives them.
    """

    def __init__(self, log: ColumnLog, source: str) -> None:
        self._log = log
        self._source = source

    def indexed(self, destination: str, changes: Iterable[tuple[int, Change]]) -> None:
        """Note the changes that are in an index; without a name it is the one of the project."""
        self._note(destination, changes, "indexed")

    def refused(self, destination: str, changes: Iterable[tuple[int, Change]], reason: str) -> None:
        """Note the changes that could not be indexed; they stay in the document cache."""
        self._note(destination, changes, f"not indexed: {reason}")

    def _note(self, destination: str, changes: Iterable[tuple[int, Change]], result: str) -> None:
        for _, change in changes:
            self._log.add(destination or self._source, _OPERATIONS[type(change)], change.url, result)


class ScoreLog:
    """Has of each URL that was chosen: `known` or `new`, its score, the URL, and what each scorer adds."""

    def __init__(self, log: ColumnLog) -> None:
        self._log = log

    def chosen(self, choice: Choice, pages: Iterable[KnownPage], scorer: Scorer) -> None:
        """Note the pages of a choice, the best first; `pages` are all that it was made from."""
        order = {one.key: place for place, one in enumerate(choice.pages)}
        found = sorted((page for page in pages if page.key in order), key=lambda page: order[page.key])
        for page in found:
            parts = scorer.parts(page)
            added = (f"{name}={getattr(parts, name):.3f}" for name in _PARTS)
            kind = "known" if page.last_fetched else "new"
            self._log.add(kind, f"{parts.total:.3f}", page.url, *added)


class EventLogs:
    """Makes the logs that a source keeps; one that it does not keep is None, and costs nothing."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.logs: list[ColumnLog] = []
        """All of them."""
        kept = context.source.log
        own = (name for entry in context.source.site_headers.values() for name in entry.headers)
        self.fetch = FetchLog(self._log("fetch")) if kept.fetch else None
        """The log of downloads."""
        form = kept.postprocess
        self.items = None if form == "none" else ItemLog(self._log("postprocess"), xml=form == "xml")
        """The log of decisions about items."""
        self.headers = HeaderLog(self._log("header"), own) if kept.header else None
        """The log of request and response headers."""
        self.scores = ScoreLog(self._log("scheduler")) if kept.scheduler else None
        """The log of what adaptive refreshing chose."""
        self.feed = FeedLog(self._log("dsfeed"), context.source.name) if kept.dsfeed else None
        """The log of what went to the index."""
        self._sites: SiteLog | None = None

    def _log(self, name: str) -> ColumnLog:
        project = self._context.project
        path = log_path(project, self._context.source.name, name)
        self.logs.append(ColumnLog(path, project.logs.size, self._context.clock))
        return self.logs[-1]

    def open(self) -> None:
        """Listen to the ends of visits, and to those that are tried again."""
        hooks = self._context.hooks
        hooks.visit_ended += [log.note_visit for log in (self.fetch, self.items) if log is not None]
        if self.fetch is not None:
            hooks.visit_retried.append(self.fetch.again)

    def watch(self, given_up: Container[str]) -> SlotListener | None:
        """Return what is to be told of the sites that get a place or lose it; None if there is no log of them."""
        context = self._context
        if not context.source.log.site or context.run.replay:
            return None
        run = context.mark.number

        def known(site: str) -> bool:
            return run > 1 and context.store.sites.get_site(site) is not None

        self._sites = SiteLog(self._log("site"), known, given_up)
        context.hooks.visit_ended.append(self._sites.note_visit)
        return self._sites.moved

    def note_run_end(self) -> None:
        """Note what is known at the end of a run."""
        if self._sites is not None:
            self._sites.note_run_end()
