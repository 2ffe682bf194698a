"""Decisions on the documents of a source that is not being crawled: into the index, out of it, back again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from ultracrawl.crawl import IndexWriter
from ultracrawl.crawl.placement.pending import PendingDocuments
from ultracrawl.crawl.writing.opening import idle_writer
from ultracrawl.errors import UserError
from ultracrawl.model import UrlRecord
from ultracrawl.model.record_changes import restored
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of, url_key
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.opening import open_state


@dataclass(frozen=True, slots=True)
class Selection:
    """Which URLs somebody means: named ones, those with a prefix, those that an expression (RE2) covers as a whole.

    Access URL and display URL both count. Without anything it means all.
    """

    urls: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing was named, so that all are meant."""
        return not (self.urls or self.prefixes or self.expressions)

    def test(self) -> Callable[[UrlRecord], bool]:
        """Return what tells whether a record is meant. Raises `PatternError`."""
        urls, prefixes = frozenset(self.urls), self.prefixes
        expressions = [compile_pattern(expression) for expression in self.expressions]
        everything = self.everything

        def is_meant(record: UrlRecord) -> bool:
            return everything or any(
                url in urls or url.startswith(prefixes) or any(one.fullmatch(url) for one in expressions)
                for url in {record.url, record.shown_url}
            )

        return is_meant


@dataclass(slots=True)
class ApprovalReport:
    """What was done with the documents of a source."""

    source: str
    indexed: int = 0
    removed: int = 0
    deleted: int = 0
    """Documents that left the index because their URLs were removed."""
    restored: int = 0
    pending: int = 0
    """Documents that still wait."""


class Approval:
    """Decides on the documents of one source; get it from `approval_of`, which holds the lock of the source."""

    def __init__(self, source: DataSource, project: Project, state: Store, feed: IndexWriter) -> None:
        rules = compile_source(source, project)
        self._policy: UrlPolicy = rules.url_policy
        self._levels = rules.levels
        self._listed = rules.listed
        self._state = state
        self._documents = PendingDocuments(state, feed)
        self.report = ApprovalReport(source.name)

    def pending(self, selection: Selection) -> list[UrlRecord]:
        """Return what waits and is meant. Raises `UserError` for a named URL that does not wait."""
        return self._chosen(self._state.records.pending_records(), selection, "does not wait for an approval")

    def approve(self, selection: Selection) -> None:
        """Hand over the documents that wait and are meant; they are in the index when `approval_of` has ended."""
        if selection.everything:
            self._documents.approve()
        else:
            self._documents.approve([url_key(record.url) for record in self.pending(selection)])

    def remove(self, selection: Selection) -> None:
        """Take known URLs out for good, those in the index too."""
        known = (record for record in self._state.records.all_records() if not record.removed)
        chosen = self._chosen(known, selection, "is not known")
        self.report.deleted += self._documents.remove(url_key(record.url) for record in chosen)
        self.report.removed += len(chosen)

    def restore(self, selection: Selection) -> None:
        """Let removed URLs come back: the next crawl fetches them."""
        removed = (record for record in self._state.records.all_records() if record.removed)
        chosen = self._chosen(removed, selection, "was not removed")
        for record in chosen:
            key = url_key(record.url)
            self._state.records.amend_record(key, restored(record))
            if not self._listed:
                self._state.queue.requeue_url(self._entry(key, record))
        self._state.flush()
        if self._listed and chosen:  # only the lister says who may see them, and may bring them along
            self._state.forget_listings()
        self.report.restored += len(chosen)

    def _entry(self, key: int, record: UrlRecord) -> QueueEntry:
        seq = self._state.queue.next_seq()
        level = self._levels.of(record.url)
        shown = record.display_url
        return QueueEntry(key, record.url, site_of(record.url), record.depth, seq, 0, shown, level=level)

    def _chosen(self, records: Iterable[UrlRecord], selection: Selection, problem: str) -> list[UrlRecord]:
        named = {url: self._policy.canonical(url) or url for url in selection.urls}
        canonical = Selection(tuple(named.values()), selection.prefixes, selection.expressions)
        chosen = list(filter(canonical.test(), records))
        found = {url for record in chosen for url in (record.url, record.shown_url)}
        missing = [url for url, form in named.items() if form not in found]
        if missing:
            raise UserError(f"{', '.join(missing)} {problem}; `ultracrawl urls` lists what is known")
        return chosen


@contextmanager
def approval_of(project: Project, source: DataSource) -> Iterator[Approval]:
    """Open the documents of a source for decisions; at the end they are in the index, and out of it.

    Raises `UserError` while the source is being crawled, `WorkError` if the index could not be brought up to date: what
    was decided then stays in the document cache, and the next crawl or approval goes on with it.
    """
    with closing(open_state(project, source.name)) as state:
        with idle_writer(project, source, state) as (feed, numbers):
            approval = Approval(source, project, state, feed)
            yield approval
        approval.report.indexed += numbers.indexed
        approval.report.pending = state.records.count_urls().pending
