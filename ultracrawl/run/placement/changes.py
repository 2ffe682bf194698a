"""The change guard in a crawl: new versions in which the words of their documents are lost wait, or are held back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.model import UrlRecord
from ultracrawl.rules.duplicates.likeness import Look, Marks, Version, former_words
from ultracrawl.rules.duplicates.losses import SAMPLE, CommonWords, Group, LostVersions, Verdict
from ultracrawl.rules.recrawl.guard import LossGuard
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.placement.new_versions import unpack_version
from ultracrawl.stores import Retained
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.lost_versions import lost_versions, note_lost_versions

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Page
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

BATCH = 200
"""Documents that are decided about before control returns to the event loop."""


class _Waiting(NamedTuple):
    """A version that an earlier part of the run left waiting."""

    key: int
    is_lost: bool
    """Whether its URL had a document before."""
    look: Look


class ChangeGuard(Feature):
    """Judges new versions of documents by the words that the former ones had (`rules.duplicates.losses`).

    What lost nothing is placed at once. What is lost waits in the store, with its links, until the guard has decided.
    Former words are those of the sketch in the record of a document, of a known duplicate those of the document that
    stands for it.
    """

    def __init__(self, context: CrawlContext) -> None:
        section = context.source.modification
        self._context = context
        self._guard = LossGuard(section.percent, section.always)
        self._is_on = section.percent < 100 and not context.run.replay
        self._most: int | None = None
        self._words: CommonWords | None = None
        self._retained: set[int] = set()
        """Keys of the documents whose new versions wait in the store."""
        self._lost = LostVersions(self._limit)

    def opened(self) -> None:
        """Load what earlier runs remember, and had not decided about."""
        if self._context.run.replay:
            return
        if self._is_on:
            self._remember()
        waiting = sorted(
            self._waiting_versions(), key=lambda one: not one.is_lost
        )  # new documents join groups
        for key, is_lost, look in waiting:
            self._context.counters.count_scheduled()
            self._retained.add(key)
            verdict = (self._lost.add_lost if is_lost else self._lost.add_new)(key, look)
            if verdict is not Verdict.WAIT:
                self._lost.note_decided(key, self._lost.name_of(look) if verdict is Verdict.HOLD else None)
        if not self._is_on:
            self._lost.end_run()

    def _remember(self) -> None:
        """Load the groups of earlier runs, and what an earlier part of this one held back."""
        notes = source_notes(self._context.project, self._context.source.name)
        groups = [] if notes is None else map(Group.of_json, lost_versions(notes))
        self._lost = LostVersions(self._limit, groups)
        if self._context.counters.resumed:
            started = self._context.mark.started
            held = self._context.store.records.held_records()
            self._lost.note_held(sum(record.is_held_since(started) for record in held))

    def _waiting_versions(self) -> Iterator[_Waiting]:
        documents, records = self._context.store.documents, self._context.store.records
        for key in documents.retained_keys(Retained.DEFERRED):
            data, record = documents.retained_document(Retained.DEFERRED, key), records.get_record(key)
            found = unpack_version(data) if data else None
            if found is None or record is None:
                documents.release_document(Retained.DEFERRED, key)
            elif found[0].waits_for_others:
                before = self._former_words(record, found[0].display_url)
                version = Version.of(record.url, found[1].title, found[1].text)
                yield _Waiting(key, bool(before), version.look(self._common(site_of(record.url))))

    # ---- new versions

    def watches(self, visit: Visit) -> bool:
        """Return whether the document of a visit may have to wait: then its links are not followed before."""
        is_known = visit.record.searchable or bool(visit.record.fingerprint) or bool(visit.entry.display_url)
        return self._is_on and not visit.from_store and (is_known or self._lost.expects_walls)

    def may_be_lost(self, visit: Visit, page: Page) -> bool:
        """Return whether a page in the index, which ends as a duplicate otherwise, loses its words."""
        if not (self._is_on and visit.record.searchable) or visit.from_store:
            return False
        version, before = Version.of(visit.url, page.title, page.text), _words_of(visit.record)
        return self._lost.is_lost(version, before, partial(self._common, visit.entry.site))

    def judge(self, visit: Visit, document: IndexDocument) -> tuple[Verdict, str]:
        """Return what becomes of a new version, and the name of its group; sets the sketch of the visit."""
        # Words of the page that was asked for are its own; those of the URL of a wall are not.
        version = Version.of(visit.record.url or visit.url, document.title, document.text)
        visit.page = visit.page._replace(sketch=version.sketch)
        if not self._is_on or visit.from_store:
            return Verdict.PLACE, ""
        before = self._former_words(visit.record, visit.entry.display_url)
        common = partial(self._common, visit.entry.site)
        verdict, label = self._lost.judge(visit.entry.key, version, before, common)
        if verdict is Verdict.WAIT:
            self._retained.add(visit.entry.key)
        return verdict, label

    def _former_words(self, record: UrlRecord, display_url: str) -> Marks:
        """Return the sketch of the document that a URL has in the index, or that stands for it."""
        records = self._context.store.records
        if not record.searchable and display_url:  # a redirect lent it
            owner = records.get_record(url_key(display_url))
            record = owner if owner is not None and owner.searchable else record
        if not record.searchable and record.fingerprint:
            same = (one for one in records.with_fingerprint(record.fingerprint) if one.searchable)
            record = next(same, record)
        return _words_of(record)

    def _common(self, site: str) -> Marks:
        """Return the words that most documents of a site have; they are read when they are first asked for."""
        if self._words is None:
            self._words = CommonWords.of(self._context.store.records.some_records(SAMPLE))
        return self._words.of_site(site)

    def _limit(self) -> int:
        if self._most is None:
            started = self._context.mark.started
            self._context.flush()
            self._most = self._guard.limit(self._context.store.documents.documents_before(started))
        return self._most

    # ---- those that wait

    def visit_ended(self, visit: Visit) -> None:
        """Forget what waits if a later visit ended otherwise."""
        if visit.outcome is not None and not visit.outcome.transient:
            self.forget(visit.entry.key)

    def forget(self, key: int) -> None:
        """Drop the new version of a document that waits."""
        if key in self._retained:
            self._retained.discard(key)
            self._lost.forget(key)
            self._context.store.documents.release_document(Retained.DEFERRED, key)

    def tick(self) -> None:
        """Decide about some documents whose time has come."""
        if self._lost.has_ready:
            self._context.documents.settle()

    def ready(self) -> Iterator[tuple[int, str | None]]:
        """Yield at most `BATCH` keys that were decided about, with the name of the group if they are held back."""
        decided = ((key, label) for key, label in self._lost.ready() if key in self._retained)
        yield from islice(decided, BATCH)

    def end_waiting(self, *, complete: bool) -> None:
        """Let in what still waits; if the run is not `complete`, it waits until that is resumed."""
        if complete:
            self._lost.end_run()

    def run_ended(self) -> None:
        """Remember the groups of this run for the next one."""
        notes = source_notes(self._context.project, self._context.source.name)
        if self._is_on and notes is not None:
            complete = not (self._retained or self._context.counters.interrupted)
            self._lost.adopt_approved(map(Group.of_json, lost_versions(notes)))
            groups = self._lost.remembered(complete=complete)
            note_lost_versions(notes, [group.as_json() for group in groups])


def _words_of(record: UrlRecord) -> Marks:
    """Return the words of a document in the index; none if its latest version was lost in a crash."""
    is_known = record.searchable and bool(record.sketch or record.checksum)
    return former_words(record.sketch) if is_known else Marks()
