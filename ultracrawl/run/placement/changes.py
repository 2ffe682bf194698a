"""The change guard in a crawl: new versions in which the words of their documents are lost wait, or are held back."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.duplicates.likeness import Look, Version
from ultracrawl.rules.duplicates.losses import (
    SAMPLE,
    CommonWords,
    Group,
    LostVersions,
    SiteWords,
    Verdict,
)
from ultracrawl.rules.duplicates.marks import Marks, former_words, read_sketch
from ultracrawl.rules.recrawl.guard import LossGuard
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.placement.new_versions import unpack_version
from ultracrawl.stores import Retained
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.lost_versions import LostNote, lost_versions, note_lost_versions

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Page
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit
    from ultracrawl.stores.port.notes import Notes

BATCH = 200
"""Documents that are decided about before control returns to the event loop."""
FAMILY = 50
"""Linked pages that are looked at where few documents of a site are in the sample."""
MAX_SKETCHES = 10_000
"""Sketches in memory; then those that were added to the sample are dropped."""


class _Retained(NamedTuple):
    """A version that an earlier part of the run left waiting, or held back."""

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
        self._is_sample = False
        """Whether the source has more documents than those of the sample."""
        self._retained: set[int] = set()
        """Keys of the documents whose new versions wait in the store."""
        self._holding = 0
        """Groups that were held back when documents of new URLs were last looked through."""
        self._lost = LostVersions(self._limit)

    def opened(self) -> None:
        """Load what earlier runs remember, and had not decided about."""
        if self._context.run.replay:
            return
        if self._is_on:
            self._remember()
        for one in self._retained_versions(Retained.DEFERRED):
            self._context.counters.count_scheduled()
            self._retained.add(one.key)
            verdict = self._lost.resume(one.key, one.look, is_lost=one.is_lost)
            if verdict is not Verdict.WAIT:
                held = self._lost.name_of(one.look) if verdict is Verdict.HOLD else None
                self._lost.note_decided(one.key, held)
        if not self._is_on:
            self._lost.end_run()

    def _remember(self) -> None:
        """Load the groups of earlier runs, and count what an earlier part of this one decided about."""
        notes, started = self._notes, self._context.mark.started
        note = LostNote([]) if notes is None else lost_versions(notes)
        let_in = note.let_in if note.run == started else 0
        self._lost = LostVersions(self._limit, map(Group.of_json, note.groups), let_in=let_in)
        if self._context.counters.resumed:
            for one in self._retained_versions(Retained.CHANGE, since=started):
                self._lost.recount(one.key, one.look, is_lost=one.is_lost)

    @property
    def _notes(self) -> Notes | None:
        return source_notes(self._context.project, self._context.source.name)

    def _retained_versions(self, purpose: Retained, since: float = 0.0) -> Iterator[_Retained]:
        """Yield what an earlier part of the run left waiting, or held back `since` a time: new documents join groups.

        So they come last. One version is read at a time.
        """
        documents, records = self._context.store.documents, self._context.store.records
        new = list[_Retained]()
        for key in documents.retained_keys(purpose):
            data, record = documents.retained_document(purpose, key), records.get_record(key)
            found = unpack_version(data) if data else None
            if found is None or record is None:
                if purpose is Retained.DEFERRED:
                    documents.release_document(purpose, key)
                continue
            version, document = found
            is_held_now = record.outcome is UrlOutcome.HELD_BACK and record.last_fetched >= since
            if not (version.waits_for_others if purpose is Retained.DEFERRED else is_held_now):
                continue
            before = self._former_words(record, version.display_url)
            look = Version(record.url, document.title, document.text).look(
                self._shared(site_of(record.url), record).common
            )
            if before:
                yield _Retained(key, True, look)
            else:
                new.append(_Retained(key, False, look))
        yield from new

    # ---- new versions

    def watches(self, visit: Visit) -> bool:
        """Return whether the document of a visit may have to wait: then its links are not followed before."""
        is_known = visit.record.searchable or bool(visit.record.fingerprint) or bool(visit.entry.display_url)
        return self._is_on and not visit.from_store and (is_known or self._lost.expects_walls)

    def may_be_lost(self, visit: Visit, page: Page) -> bool:
        """Return whether a page in the index, which ends as a duplicate otherwise, loses its words."""
        if not (self._is_on and visit.record.searchable) or visit.from_store:
            return False
        version, before = Version(visit.url, page.title, page.text), _words_of(visit.record)
        return self._lost.is_lost(version, before, partial(self._shared, visit.entry.site, visit.record))

    def judge(self, visit: Visit, document: IndexDocument) -> tuple[Verdict, str]:
        """Return what becomes of a new version, and the name of its group; sets the sketch of the visit."""
        # Words of the page that was asked for are its own; those of the URL of a wall are not.
        version = Version(visit.record.url or visit.url, document.title, document.text)
        visit.page = visit.page._replace(sketch=version.sketch)
        if not self._is_on or visit.from_store:
            return Verdict.PLACE, ""
        before = self._former_words(visit.record, visit.entry.display_url)
        shared = partial(self._shared, visit.entry.site, visit.record)
        verdict, label = self._lost.judge(visit.entry.key, version, before, shared)
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

    def _shared(self, site: str, record: UrlRecord) -> SiteWords:
        """Return the words that documents of the site of a record share; they are read when first asked for.

        Of a site with few documents in the sample, those count as well that the document in question links to.
        """
        records = self._context.store.records
        if self._words is None or self._words.number > MAX_SKETCHES:
            self._words = CommonWords.of(records.some_documents(SAMPLE))
            self._is_sample = self._words.number >= SAMPLE
        if self._is_sample and self._words.are_few(site):
            linked = records.get_records(array("q", record.links[: FAMILY * 8])).values()
            self._words.add_documents(one for one in linked if site_of(one.url) == site)
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

    @property
    def has_ready(self) -> bool:
        """Whether something was decided."""
        return self._lost.has_ready

    def tick(self) -> None:
        """Decide about some documents whose time has come."""
        if self.has_ready:
            self._context.documents.settle()

    def ready(self) -> Iterator[tuple[int, str | None]]:
        """Yield at most `BATCH` keys that were decided about, with the name of the group if they are held back."""
        decided = ((key, label) for key, label in self._lost.ready() if key in self._retained)
        yield from islice(decided, BATCH)

    def is_waiting(self, key: int) -> bool:
        """Return whether the new version of a document waits."""
        return key in self._retained

    def put_off(self, key: int) -> None:
        """Have a version that was let in be placed after the others that are ready."""
        self._lost.note_decided(key, None)

    def end_waiting(self, *, complete: bool) -> int:
        """Let in what still waits; if the run is not `complete`, it waits until that is resumed.

        Returns how many documents of new URLs have to be asked for again first.
        """
        if not complete:
            return 0
        number = self._ask_again()
        if self._lost.has_waiting:
            self._lost.end_run()
            self._note(complete=False)  # what is let in now counts, even if the process is killed
        return number

    def _ask_again(self) -> int:
        """Queue documents of new URLs that this run let in, and that may belong to a group that it holds back since."""
        context, holding, number = self._context, self._lost.holding, 0
        if context.run.replay or context.rules.listed or holding <= self._holding:
            return 0
        self._holding = holding
        for record in context.store.records.all_records(UrlOutcome.NEW):
            if record.last_fetched < context.mark.started or not (record.searchable and record.sketch):
                continue
            if self._lost.may_be_held(
                read_sketch(record.sketch), partial(self._shared, site_of(record.url), record)
            ):
                number += 1
                doubted = replace(without_validators(record), sketch=b"")
                context.store.records.amend_record(url_key(record.url), doubted)
                context.queue.requeue(doubted)
        return number

    def is_doubted(self, record: UrlRecord) -> bool:
        """Return whether a page is asked for again because its document should perhaps not have been let in."""
        is_new = record.outcome is UrlOutcome.NEW and record.last_fetched >= self._context.mark.started
        return is_new and record.searchable and not (record.sketch or record.checksum)

    def run_ended(self) -> None:
        """Remember the groups of this run for the next one."""
        if self._is_on:
            self._note(complete=not (self._retained or self._context.counters.interrupted))

    def _note(self, *, complete: bool) -> None:
        if (notes := self._notes) is not None:
            self._lost.adopt_approved(map(Group.of_json, lost_versions(notes).groups))
            groups = [group.as_json() for group in self._lost.remembered(complete=complete)]
            note_lost_versions(notes, LostNote(groups, self._context.mark.started, self._lost.let_in))


def _words_of(record: UrlRecord) -> Marks:
    """Return the words of a document in the index; none if its latest version was lost in a crash."""
    is_known = record.searchable and bool(record.sketch or record.checksum)
    return former_words(record.sketch) if is_known else Marks()
