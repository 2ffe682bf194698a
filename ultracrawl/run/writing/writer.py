"""Writes documents to the indexes: durable cache, index processes, commits recorded in the document table."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import IndexStoreError, StateError
from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.index.writing.cache import DocumentCache, IsStale
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.writing.commits import Commits, SegmentKeys, name_of
from ultracrawl.stores import LinkTexts, Store
from ultracrawl.stores.port.leases import LEASE_SECONDS

if TYPE_CHECKING:
    from ultracrawl.index.writing.destination_queues import DestinationQueues
    from ultracrawl.model import UrlRecord
    from ultracrawl.run.writing.pauses import Pauses

EAGER_SIZE = 2_500_000
"""Bytes that are worth a commit while the index process is idle.

Smaller commits cost more than they save: each writes its terms anew, and the earlier a document is sent, the likelier
other pages add anchor texts to it later.
"""
CHEAP_EAGER_SIZE = 300_000
"""The same where a commit costs a tenth of that: what is left after the last page is less."""
EAGER_SHARE = 1 / 4
"""Share of the bytes sent so far that is worth a commit: a long crawl has few segments, which cost less than many, and
the last one, which is indexed after the crawl, is at most a fifth of all."""
EAGER_AFTER = 10.0
"""Seconds after which a tenth of that is worth a commit, too, if it is as much as was sent before.

So the segments of a slow crawl grow. However often ten seconds pass, as on a busy machine, a crawl has four more of
them for it.
"""
LATEST_AFTER = 60.0
"""Seconds after which whatever waits is worth a commit: documents wait no longer for an index that is idle."""
FIRST_AFTER = 5.0
"""The same for the first commit of a crawl."""
MAX_WAITING_SEGMENTS = 2
"""Segments that may wait for the primary index before crawling waits, too."""
ANCHOR_BATCH = 500
"""Documents whose anchor texts are looked up per query."""
_POLL_SECONDS = 0.02
"""Seconds between checks of the index processes while a crawl ends."""


class NewReaders(NamedTuple):
    """The readers of a document in the index, by its display URL."""

    url: str
    depth: int
    acl: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitPolicy:
    """When what waits in the cache is handed over to the indexes."""

    every: float | None = None
    """Seconds after which the first change is handed over at the latest."""
    two_phases: bool = False
    """Whether crawling stops meanwhile (Ultra Search 6); then nothing is handed over because it is worth a commit."""
    eager_size: int = EAGER_SIZE
    """Bytes that are worth a commit while the indexes are idle."""


class IndexWriter:
    """Stores changes in the durable cache, and has them indexed while the crawl goes on.

    A cache segment is sealed and handed over when it is full, by the `policy`: when the indexes are idle and enough
    waits (less if it waits for long), or when its first change is old enough; or by `drain`. Each segment goes to all
    indexes of the source (`DestinationQueues`); a paused or failing one delays neither the crawl nor the others. With
    `anchors`, documents get the anchor texts that are known when their segment is sealed.
    """

    def __init__(
        self,
        source: str,
        cache: DocumentCache,
        destinations: DestinationQueues,
        state: Store,
        counters: RunCounters,
        *,
        policy: CommitPolicy = CommitPolicy(),
        backlog: int | None = None,
        pauses: Pauses | None = None,
        anchors: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._cache = cache
        self._destinations = destinations
        self._state = state
        self._policy = policy
        self._backlog = backlog
        self._pauses = pauses
        self._links = state.links if anchors else None
        self._clock = clock
        self._counters = counters
        self._since = 0.0
        """When the first change of the open segment was added."""
        self._sealed_bytes = 0
        """Bytes of the segments that were sealed so far."""
        self._segments = SegmentKeys(cache)
        self.commits = Commits(source, cache, destinations, state, counters, self._segments)
        """Handles the reports of the indexes."""

    def recover(self) -> frozenset[int]:
        """Hand over the segments that an earlier run left in the cache; returns the keys of their changes."""
        self._keep_lease()
        self._apply_pauses()
        for problem in self._destinations.salvage():
            self._counters.note_problem(problem)
            if self._links is not None:
                self._links.invalidate_submitted_texts()
        if self._cache.place:
            self._drop_stale()
        self._destinations.recover(self._cache)
        self.commits.recovered = frozenset(path.name for path in self._destinations.primary.waiting)
        waiting: dict[int, str] = {}
        for path in self._destinations.primary.waiting:
            urls = self._segments.urls_of(path)
            self._segments.add_sealed(path, urls)
            waiting.update(urls)
        self.adopt_documents({key: url for key, url in waiting.items() if url})
        return frozenset(waiting)

    def _drop_stale(self) -> None:
        """Leave out what waits here if another machine has crawled the source since, and made it again."""
        documents = self._state.documents
        if documents.open_place(self._cache.place):
            self._destinations.drop_stale(self._stale_among)
            if self._links is not None:
                self._links.resubmit_due_texts()  # they may wait there, and are dropped when they are found
        documents.keep_place()

    def _stale_among(self, keys: Collection[int]) -> IsStale:
        """Return what tells stale changes of these keys: all but documents of this cache, and deletions that hold."""
        here = self._state.documents.submitted_here(keys)
        records = self._state.records.get_records(sorted(keys))

        def is_stale(key: int, change: Change) -> bool:
            record = records.get(key)
            is_away = record is None or not record.searchable
            return key not in here and not (key and is_away and isinstance(change, Deletion))

        return is_stale

    def adopt_documents(self, documents: Mapping[int, str]) -> None:
        """Handle documents that the store does not know because the crawler was killed: they are fetched again."""
        unrecorded = self._state.documents.adopt_unrecorded(documents)
        self.commits.fetched_again = frozenset((*unrecorded.known, *unrecorded.unknown))
        if self._links is not None:
            for key in unrecorded.known:
                self._links.submitted_without_texts(key)
        self.commits.taken_back.update(unrecorded.unknown)
        for key in unrecorded.unknown:
            self._delete(key, documents[key])

    def add(self, key: int, document: IndexDocument) -> None:
        """Add a new or changed document. Raises `IndexStoreError` if the cache cannot be written."""
        if self._links is not None:
            self._links.submitted_without_texts(key)
            if document.anchors or document.section_anchors:
                document = replace(document, anchors=(), section_anchors=())
        self.append(key, document)
        self._state.documents.note_submitted(key)
        self._segments.open[key] = document.url

    def delete(self, key: int, record: UrlRecord) -> None:
        """Delete the document of a record, as it was until now."""
        if self._links is not None:
            self._links.note_document_removed(key)
        self.commits.note_deletion(key, record)
        self._delete(key, record.shown_url)

    def _delete(self, key: int, url: str) -> None:
        self.append(key, Deletion(self._source, url))
        self._segments.open[key] = ""

    def remove_unknown(self, urls: Iterable[str]) -> None:
        """Delete documents that the document table does not have."""
        for url in urls:
            self.append(0, Deletion(self._source, url))

    def replace_anchors(self, key: int, url: str, texts: LinkTexts, depth: int) -> None:
        """Replace anchor texts and depth of a document that is in the index, or on its way there."""
        self.append(key, NewAnchors(self._source, url, *texts, depth))

    def renew_readers(self, documents: Mapping[int, NewReaders]) -> None:
        """Give documents that are in the index other readers, by key; their content stays as it is there."""
        known = self._links.anchor_texts(list(documents)) if self._links is not None else {}
        for key, new in documents.items():
            texts = known.get(key, LinkTexts())
            self.append(key, NewAnchors(self._source, new.url, *texts, new.depth, new.acl))
            self._state.documents.note_submitted(key)
            self._segments.open[key] = new.url

    def append(self, key: int, change: Change) -> None:
        """Add a change, of any source; with key 0 the document table does not change."""
        if not self._cache.size:
            for destination in self._destinations.all:
                destination.prepare()
            self._since = self._clock()
        if self._cache.lease is not None:
            self._keep_lease()
        self._cache.append(key, change)

    def is_in_open_segment(self, key: int) -> bool:
        """Return whether a document is in the open segment, and gets its anchor texts when that is sealed."""
        return bool(self._segments.open.get(key))

    def _add_anchor_texts(self) -> None:
        """Add the anchor texts known by now to the documents in the open segment."""
        keys = [key for key, url in self._segments.open.items() if url]
        if self._links is None or not keys:
            return
        self._cache.sync()
        self._state.flush()
        for at in range(0, len(keys), ANCHOR_BATCH):
            batch = keys[at : at + ANCHOR_BATCH]
            texts = self._links.anchor_texts(batch)
            for key in batch:
                if key in texts:
                    self._cache.append(key, NewAnchors(self._source, self._segments.open[key], *texts[key]))
                self._links.submitted_with_texts(key, texts.get(key, LinkTexts()))

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait: too many segments wait for the index, or crawling and indexing alternate."""
        return self._destinations.primary.in_progress > (
            0 if self._policy.two_phases else MAX_WAITING_SEGMENTS
        )

    @property
    def busy(self) -> bool:
        """Whether changes are on their way to an index that is not paused."""
        return self._cache.size > 0 or self._destinations.is_busy

    @property
    def is_empty(self) -> bool:
        """Whether all destinations have got all changes."""
        return not self._cache.size and not any(one.waiting for one in self._destinations.all)

    def has_all(self, index: str) -> bool:
        """Return whether an index, or another destination, has got all changes."""
        waits = (one.waiting for one in self._destinations.all if one.index == index)
        return not self._cache.size and not any(waits)

    def sync(self) -> None:
        """Make the cache durable, in any thread; must precede the flush of the store."""
        self._cache.sync()

    def tick(self) -> None:
        """Hand over the open segment if it is due, and handle reports; called a few times a second."""
        self._apply_pauses()
        self.collect()
        if self._cache.size >= self._cache.limit or self._is_commit_worthwhile or self._is_overdue:
            self.drain()

    @property
    def _is_commit_worthwhile(self) -> bool:
        """Whether enough waits for indexes that are idle."""
        size = self._cache.size
        if self._policy.two_phases or not size:
            return False
        return size >= self._worthwhile_size(self._clock() - self._since) and self._destinations.is_idle

    def _worthwhile_size(self, waited: float) -> float:
        """Return how many bytes are worth a commit when the first of them has waited for some seconds."""
        eager, sent = self._policy.eager_size, self._sealed_bytes
        if waited >= (LATEST_AFTER if sent else FIRST_AFTER):
            return 0
        enough = max(eager, EAGER_SHARE * sent)
        return min(enough, max(eager / 10, sent)) if waited >= EAGER_AFTER else enough

    @property
    def _is_overdue(self) -> bool:
        waits = self._policy.every and self._cache.size and self._clock() - self._since >= self._policy.every
        return bool(waits) and any(destination.is_active for destination in self._destinations.all)

    def _apply_pauses(self) -> None:
        if self._pauses is not None:
            self._pauses.apply(self._destinations.all, self._clock())

    def drain(self) -> None:
        """Seal the open segment and hand it over; its records are made durable first."""
        self._add_anchor_texts()
        self._sealed_bytes += self._cache.size
        path = self._cache.seal()
        if path is not None:
            self._state.flush()
            self._segments.seal(path)
            self._destinations.deliver(path)
            self._check_backlog()

    def _check_backlog(self) -> None:
        """Raise `IndexStoreError` if too much waits for the primary index; other indexes are given up instead."""
        for destination in self._destinations.all:
            if self._backlog is None or destination.is_active or destination.size <= self._backlog:
                continue
            full = f"{destination.size / 1e6:,.0f} MB wait for {name_of(destination)}, more than `feeding.backlog`"
            if destination is self._destinations.primary:
                raise IndexStoreError(f"{full}; resume it (`ultracrawl feeding resume`), or raise the limit")
            self._destinations.abandon(destination)
            self._counters.note_problem(
                f"{full}: these changes are discarded, and the next run fills it again"
            )

    def collect(self) -> None:
        """Handle the reports of the indexes. Raises `StateError` if another process has taken the source over."""
        self._keep_lease()
        self.commits.collect()

    def _keep_lease(self) -> None:
        """Renew the lease of the source if that is due, and note it for indexes that several machines write to."""
        self._write_note(self._state.keep_lease())

    def note_lease(self) -> None:
        """Note, in another thread, that it has renewed the lease of the source. Raises `IndexStoreError`."""
        now, lease = self._clock(), self._state.kept_lease()
        if lease is not None:
            self._write_note(now - lease.lease_age())

    def _write_note(self, renewed: float) -> None:
        if self._cache.lease is not None:
            self._cache.lease.write(renewed, LEASE_SECONDS)

    def retry(self) -> None:
        """Retry failed indexes now."""
        for destination in self._destinations.all:
            destination.retry()

    def close(self, timeout: float) -> None:
        """Stop the index processes after their current work, in `timeout` seconds at most.

        Raises `StateError` if another process has taken the source over: it delivers what waits.
        """
        deadline = time.monotonic()
        try:
            self.collect()
            deadline += timeout
            while self._destinations.is_busy and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
                self.collect()
        except StateError:
            deadline = 0.0
            raise
        finally:
            for destination in self._destinations.all:
                for report in destination.close(max(0.5, deadline - time.monotonic())):
                    if deadline:
                        self.commits.handle_report(destination, report)
            self._cache.close()
