"""Approves, removes and restores documents of a source that is not being crawled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import UrlRecord
from ultracrawl.model.record_changes import restored
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of, url_key
from ultracrawl.run import IndexWriter
from ultracrawl.run.placement.pending import PendingDocuments
from ultracrawl.run.writing.source_writer import idle_writer
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.control_channel import crawl_status
from ultracrawl.stores.project_stores import open_state, source_notes, state_to_read
from ultracrawl.stores.site_orders import SiteAction, SiteOrder, leave_site_order


class DecidedMeanwhileError(WorkError):
    """What waits is not what somebody looked at before deciding."""

    def __init__(self) -> None:
        super().__init__("other documents wait now, or other texts of them; look at them, and decide again")


def revision_of(records: Iterable[UrlRecord]) -> str:
    """Return a text that is another one if other documents wait, or other texts of them."""
    return combined_revision(revision_of_one(one) for one in records)


def revision_of_one(record: UrlRecord) -> str:
    """Return a text that is another one if another text of a document waits."""
    # The checksum of a record whose new version is held back is still that of the old one.
    return _digest(f"{record.url} {record.checksum.hex()} {record.last_fetched if record.held_back else ''}")


def combined_revision(revisions: Iterable[str]) -> str:
    """Return the revision of several documents from those of each."""
    return _digest("\n".join(sorted(revisions)))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]


def check_revision(records: Iterable[UrlRecord], revision: str) -> None:
    """Raise `DecidedMeanwhileError` unless the documents have the revision that was shown; an empty one fits all."""
    if revision and revision_of(records) != revision:
        raise DecidedMeanwhileError


def waiting_records(state: Store, urls: Iterable[str] = ()) -> list[UrlRecord]:
    """Return the records of these URLs that wait for approval, or all."""
    wanted = frozenset(urls)
    return [one for one in state.records.pending_records() if not wanted or one.url in wanted]


@dataclass(frozen=True, slots=True)
class Selection:
    """Selects records by URLs, URL prefixes, or regular expressions (RE2) that match a whole URL.

    Access URL and display URL are both matched. An empty selection selects all records.
    """

    urls: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether the selection is empty, so that it selects all records."""
        return not (self.urls or self.prefixes or self.expressions)

    def test(self) -> Callable[[UrlRecord], bool]:
        """Return the predicate of the selection. Raises `PatternError`."""
        urls, prefixes = frozenset(self.urls), self.prefixes
        expressions = [compile_pattern(expression) for expression in self.expressions]
        everything = self.everything

        def is_selected(record: UrlRecord) -> bool:
            return everything or any(
                url in urls
                or url.startswith(prefixes)
                or any(expression.fullmatch(url) for expression in expressions)
                for url in {record.url, record.shown_url}
            )

        return is_selected

    def orders(self, action: SiteAction, keys: tuple[int, ...] = ()) -> list[SiteOrder]:
        """Return the orders for a crawl that do `action` to what is selected. Raises `PatternError`.

        `keys`: of an empty selection only these are meant; empty: all.
        """
        self.test()
        return [
            *([SiteOrder(action, "", keys=keys)] if self.everything else ()),
            *(SiteOrder(action, url) for url in self.urls),
            *(SiteOrder(action, text, prefix=True) for text in self.prefixes),
            *(SiteOrder(action, text, expression=True) for text in self.expressions),
        ]


@dataclass(slots=True)
class ApprovalReport:
    """Numbers of documents by what was done with them."""

    source: str
    indexed: int = 0
    removed: int = 0
    deleted: int = 0
    """Documents deleted from the index because their URLs were removed."""
    restored: int = 0
    pending: int = 0
    """Documents that still wait for approval."""


class Approval:
    """Approves, removes and restores documents of one source; created by `approval_of`, which locks the source."""

    def __init__(self, source: DataSource, project: Project, state: Store, writer: IndexWriter) -> None:
        rules = compile_source(source, project)
        self._policy: UrlPolicy = rules.url_policy
        self._levels = rules.levels
        self._listed = rules.listed
        self._state = state
        self._documents = PendingDocuments(state, writer)
        self.report = ApprovalReport(source.name)

    def pending(self, selection: Selection) -> list[UrlRecord]:
        """Return the selected records that wait for approval. Raises `UserError` for a named URL that does not wait."""
        return self._chosen(self._state.records.pending_records(), selection, "does not wait for approval")

    def check_shown(self, urls: Iterable[str], revision: str) -> None:
        """Raise `DecidedMeanwhileError` unless what waits of these URLs, or at all, has the revision; empty fits."""
        check_revision(waiting_records(self._state, urls) if revision else (), revision)

    def approve(self, selection: Selection) -> None:
        """Submit the selected documents that wait; they are in the index when `approval_of` exits."""
        if selection.everything:
            self._documents.approve()
        else:
            self._documents.approve([url_key(record.url) for record in self.pending(selection)])

    def remove(self, selection: Selection) -> None:
        """Remove known URLs permanently, and delete their documents from the index."""
        known = (record for record in self._state.records.all_records() if not record.removed)
        self._remove(self._chosen(known, selection, "is not known"))

    def remove_all(self, selects: Callable[[str], bool]) -> None:
        """Remove the known URLs that a predicate selects, permanently, with their documents."""
        known = self._state.records.all_records()
        self._remove([record for record in known if not record.removed and selects(record.url)])

    def _remove(self, chosen: list[UrlRecord]) -> None:
        self.report.deleted += self._documents.remove(url_key(record.url) for record in chosen)
        self.report.removed += len(chosen)

    def restore(self, selection: Selection) -> None:
        """Restore removed URLs: the next crawl fetches them."""
        removed = (record for record in self._state.records.all_records() if record.removed)
        chosen = self._chosen(removed, selection, "was not removed")
        for record in chosen:
            key = url_key(record.url)
            self._state.records.amend_record(key, restored(record))
            if not self._listed:
                self._state.queue.requeue_url(self._entry(key, record))
        self._state.flush()
        if (
            self._listed and chosen
        ):  # ACLs, and perhaps bodies, come with the listing only, so it has to run again
            self._state.forget_listings()
        self.report.restored += len(chosen)

    def _entry(self, key: int, record: UrlRecord) -> QueueEntry:
        seq = self._state.queue.next_seq()
        level = self._levels.of(record.url)
        display_url = record.display_url
        return QueueEntry(
            key, record.url, site_of(record.url), record.depth, seq, 0, display_url, level=level
        )

    def _chosen(self, records: Iterable[UrlRecord], selection: Selection, problem: str) -> list[UrlRecord]:
        canonical_urls = {url: self._policy.canonical(url) or url for url in selection.urls}
        canonical = Selection(tuple(canonical_urls.values()), selection.prefixes, selection.expressions)
        chosen = list(filter(canonical.test(), records))
        found = {url for record in chosen for url in (record.url, record.shown_url)}
        missing = [url for url, canonical_url in canonical_urls.items() if canonical_url not in found]
        if missing:
            raise UserError(f"{', '.join(missing)} {problem}; `ultracrawl urls` lists what is known")
        return chosen


def knowing_sources(project: Project, url: str) -> Iterator[tuple[DataSource, str]]:
    """Yield the sources that know a URL, by its access URL or its display URL, each with its access URL.

    URLs that were removed count as unknown. Raises `StateError`.
    """
    for name, source in project.known_sources.items():
        canonical = compile_source(source, project).url_policy.canonical(url) or url
        with state_to_read(project, name) as state:
            if state is None:
                continue
            known = (state.records.get_record(url_key(canonical)), *state.records.with_display_url(canonical))
            record = next(filter(None, known), None)
            if record is not None and not record.removed:
                yield source, record.url


def keep_for_run(project: Project, source: str, orders: Iterable[SiteOrder]) -> bool:
    """Keep orders if they cannot be carried out here: the source is being crawled, or its definition has mistakes.

    Returns whether they were kept: the running crawl carries them out, or the next one. Raises `StateError`.
    """
    notes = source_notes(project, source)
    if notes is None or (source not in project.invalid_sources and crawl_status(notes) is None):
        return False
    for order in orders:
        leave_site_order(notes, order, time.time())
    return True


@contextmanager
def approval_of(project: Project, source: DataSource) -> Iterator[Approval]:
    """Open the documents of a source for approval; on exit the index is up to date.

    Raises `UserError` while the source is being crawled, `WorkError` if the index could not be brought up to date: the
    changes then stay in the document cache, and the next crawl or approval writes them.
    """
    with closing(open_state(project, source.name)) as state:
        with idle_writer(project, source, state) as (writer, numbers):
            approval = Approval(source, project, state, writer)
            yield approval
        approval.report.indexed += numbers.indexed
        approval.report.pending = state.records.count_urls().pending
