"""Indexes a document once, however many URLs of its source have it (Ultra Search 6.3, FAST 5.1 H)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.agents.entry_texts import stated_metadata
from ultracrawl.model import Cause, CauseCode, Page, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.access.readers import without_type
from ultracrawl.rules.duplicates.fingerprint import ContentMark, readers_mark, type_mark
from ultracrawl.rules.duplicates.ranking import ALIAS, NAMES_NONE, preference
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.placement.canonical_links import CanonicalLinks
from ultracrawl.run.placement.holders import ContentHolders
from ultracrawl.run.placement.succession import Succession, named_as, same_content
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)


class Duplicates(Feature):
    """Finds duplicates before a page's links are followed and before it is indexed, and updates them when visits end.

    Records with equal fingerprints are one document. The record with the lowest rank is in the index: its holder. A
    better one that is found later takes its place at once, unless both have just changed to that content. When a
    holder changes, the best remembered duplicate is fetched in the same run and takes its place. When a holder is
    marked for removal, the best duplicate is fetched, too, but its document waits in the store until `Deletions`
    removes the holder.

    A document that waits for approval holds its place like one in the index, but never displaces one there.

    Documents with different readers have different fingerprints. If items may have readers of their own
    (`items_have_readers`), a document is compared when its item has passed the pipelines, otherwise when its page has
    been read.
    """

    def __init__(self, context: CrawlContext, *, items_have_readers: bool) -> None:
        self._context = context
        self._items_have_readers = items_have_readers
        self._options = context.source.duplicates
        self._marks = DocumentMarks(context)
        self._open = OpenVisits()
        self._holders = ContentHolders(context)
        self._succession = Succession(context, self._holders)
        self.canonical_links = CanonicalLinks(context, self._holders, items_have_readers=items_have_readers)

    def opened(self) -> None:
        """Load the documents that an earlier run left waiting."""
        self._holders.waiting.update(self._context.store.documents.retained_keys(Retained.REPLACEMENT))
        self.canonical_links.opened()

    def tick(self) -> None:
        """Decide about pages that waited for the page that they name."""
        if self.canonical_links.has_ready:
            self._context.documents.settle()

    def is_waiting(self, key: int) -> bool:
        """Return whether the document of a key waits for the place of one that is to leave the index."""
        return key in self._holders.waiting

    def recount(self, before: UrlRecord, after: UrlRecord) -> None:
        """Replace the outcome of a URL that the report counted for its visit in this run."""
        self._succession.recount(before, after)

    # ---- before a document is indexed

    def find(self, visit: Visit, page: Page, body: bytes) -> UrlRecord | None:
        """Return the document in the index that stands for this page, or None.

        It has the same content and outranks the page, or the page names it as canonical.

        Stores fingerprint and preference in the visit; called once for each page that would be indexed.
        """
        if not self._marks.compares(visit.url):
            return None
        mark, signature = self._marks.of_page(visit, page, body)
        visit.page = visit.page._replace(
            fingerprint=mark.fingerprint,
            preference=self._marks.preference(visit, page),
            canonical=self.canonical_links.named_by(visit, page),
        )
        if self._items_have_readers:
            visit.page = visit.page._replace(signature=signature())
            self._open.enter(visit, contested=False)
            return None
        twin = self._find_among(visit, () if visit.listed is None else visit.listed.acl, signature)
        return twin or self._find_named(visit)

    def _find_named(self, visit: Visit) -> UrlRecord | None:
        """Return the document that stands for the page of a visit by its canonical link, if it is known already."""
        holder = self.canonical_links.judge_visit(visit).holder
        if holder is not None:
            self._become_alias(visit, holder)
        return holder

    def _become_alias(self, visit: Visit, holder: UrlRecord) -> None:
        own = visit.page.fingerprint
        self._open.leave(visit)
        visit.page = visit.page._replace(fingerprint=holder.fingerprint, preference=ALIAS)
        if own != holder.fingerprint:
            # Another page with its text may have ended as its duplicate.
            self._succession.elect_successor(replace(visit.record, fingerprint=own))

    def find_again(self, visit: Visit) -> UrlRecord | None:
        """Repeat `find` for a page whose document had to wait, and whose readers are part of its fingerprint."""
        return self._enter(visit, self._holders.others_of_visit(visit)) if visit.page.fingerprint else None

    def _enter(self, visit: Visit, others: list[UrlRecord]) -> UrlRecord | None:
        holder = self._holders.preferred(visit, others)
        if holder is None:
            self._open.enter(visit, contested=any(map(self._holders.is_current, others)))
        return holder

    def _find_among(
        self, visit: Visit, readers: Collection[str], signature: Callable[[], int | None]
    ) -> UrlRecord | None:
        """Give a visit the fingerprint among documents with its readers, and look for these."""
        mark = ContentMark(visit.page.fingerprint)
        visit.page = visit.page._replace(fingerprint=self._marks.among(mark, readers).fingerprint)
        same = self._holders.others_of_visit(visit)
        if not same and self._marks.finds_near:
            near = self._marks.among(mark._replace(signature=signature()), readers)
            same = self._find_near(visit, near.signature)
        return self._enter(visit, same)

    def _find_near(self, visit: Visit, signature: int | None) -> list[UrlRecord]:
        """Return the documents with a similar text, and give the visit their fingerprint."""
        if signature is None:
            return []
        records = self._context.store.records
        nearest = records.nearest_signature(signature, self._options.near_distance)
        if nearest is None:
            records.put_signature(visit.page.fingerprint, signature)
            return []
        visit.page = visit.page._replace(fingerprint=nearest)
        return self._holders.others_of_visit(visit)

    def find_contested(self, visit: Visit, readers: Collection[str] | None) -> UrlRecord | None:
        """Repeat `find` for a page that was in flight together with others of its content.

        `readers` are those of its item; None if they are part of its fingerprint already.
        """
        if self._items_have_readers and readers is not None and visit.page.fingerprint:
            return self._find_by_item(visit, readers)
        if not self._open.is_contested(visit.page.fingerprint):
            return None
        others = self._holders.others_of_visit(visit)
        return self._holders.preferred(visit, others) or self._rival(visit)

    def note_readers(self, visit: Visit, readers: Collection[str]) -> None:
        """Give a visit whose document is retained the fingerprint among those with its readers."""
        if self._items_have_readers and visit.page.fingerprint:
            self._find_by_item(visit, readers)

    def _find_by_item(self, visit: Visit, readers: Collection[str]) -> UrlRecord | None:
        """Do what `find` left: the readers of the item are known now."""
        shared, signature = self._open.leave(visit), visit.page.signature
        holder = self._find_among(visit, readers, lambda: signature)
        if shared and shared != visit.page.fingerprint:
            # One in flight may have ended as a duplicate of this one, as if both had the same readers.
            self._succession.elect_successor(replace(visit.record, fingerprint=shared))
        return holder or self._rival(visit)

    def _rival(self, visit: Visit) -> UrlRecord | None:
        """Return the best page in flight with the same content, if it outranks a page that is not in the index.

        Should the rival not be indexed, this page is fetched again and takes its place.
        """
        if visit.record.retained or visit.record.searchable:
            return None
        same = self._open.of_content(visit.page.fingerprint)
        best = min(same, key=self._holders.rank_of_visit, default=visit)
        return None if best is visit else best.record

    # ---- duplicates

    def refuse(self, visit: Visit, holder: UrlRecord) -> None:
        """End a visit for whose page another document stands, by content or canonical link (909)."""
        cause = alias_of(visit) if visit.page.preference == ALIAS else same_content(holder)
        self._succession.note_refused(visit)
        if not self._succession.is_listed(visit.url, self._holders.others_of_visit(visit)):
            # Without validators it is fetched in full in the next run, and not forgotten for good.
            visit.page = visit.page._replace(fingerprint=b"")
            visit.drop_validators()
        logger.info("30083 duplicate document ignored: %s: %s", visit.url, cause)
        ending = Ending(UrlOutcome.DUPLICATE, StatusCode.DUPLICATE_DETECTED, cause)
        self._context.endings.end_visit(visit, ending)

    def refuse_later(self, visit: Visit) -> None:
        """Leave it to `find_again` whether another document stands for the page of a visit."""
        visit.page = visit.page._replace(is_copy=True)

    def refuse_alias(self, visit: Visit, holder: UrlRecord) -> None:
        """End a visit whose page turned out to be an alias of `holder` (909)."""
        self._become_alias(visit, holder)
        self.refuse(visit, holder)

    def stays_duplicate(self, visit: Visit) -> bool:
        """End the visit of an unchanged page (304) that is a known duplicate (910); returns False for other pages."""
        record = visit.record
        if not record.fingerprint or record.searchable or record.pending:
            return False
        holder = self._holders.best(self._holders.others_of_record(record))
        wanted = holder is None or self._holders.should_replace(visit, holder)
        if wanted and not self.is_waiting(visit.entry.key) and not visit.rescan:
            self._context.queue.requeue(record)
        is_alias = record.cause.code is CauseCode.CANONICAL
        cause = record.cause if holder is None or is_alias else same_content(holder)
        ending = Ending(UrlOutcome.DUPLICATE, StatusCode.DUPLICATE_IGNORED, cause)
        self._context.endings.end_visit(visit, ending)
        return True

    def remains_duplicate(self, record: UrlRecord) -> bool:
        """Return whether a known duplicate still has a better document in the index."""
        if not record.fingerprint or record.removal is not None:
            return False
        holder = self._holders.best(self._holders.others_of_record(record))
        return holder is not None and self._holders.rank_of_record(holder) < self._holders.rank_of_record(
            record
        )

    # ---- succession

    def displace(self, visit: Visit) -> None:
        """Take worse documents of the same content out of the index; called when this one has been added."""
        if self._open.is_contested(visit.page.fingerprint):
            self._succession.displace(visit)

    def wait_for_place(self, visit: Visit, document: IndexDocument) -> UrlRecord | None:
        """Retain a document whose content is in the index under a URL that is to leave, and end its visit.

        Returns the record of that URL; None if there is none, and nothing was done.
        """
        if not self._open.is_contested(visit.page.fingerprint):
            return None
        return self._succession.wait_for_place(visit, document)

    def visit_ended(self, visit: Visit) -> None:
        """Fetch a duplicate of the former content of a visit if no other document with that content is in the index."""
        contested = self._open.leave(visit)
        before = visit.record
        self._forget_link(visit)
        self.canonical_links.note_visited(visit.url)
        if visit.outcome is None or not self._marks.compares(visit.url):
            return
        self._note_named(visit)
        if contested and contested != before.fingerprint and not self._represents(visit, contested):
            self._succession.elect_successor(replace(before, fingerprint=contested))
        if not before.fingerprint or self._represents(visit, before.fingerprint):
            return
        if not (visit.outcome.transient or self._waits_anew(visit)):
            self._succession.forget_waiting(visit.entry.key)
        self._succession.elect_successor(before)

    def _forget_link(self, visit: Visit) -> None:
        """Drop a document that waits for the page that it names, if a later visit ended otherwise."""
        key, is_later = visit.entry.key, visit.outcome is not None and not visit.outcome.transient
        if is_later and self.canonical_links.is_waiting(key):
            self.canonical_links.stop_waiting(key)
            self._context.store.documents.release_document(Retained.DEFERRED, key)

    def _note_named(self, visit: Visit) -> None:
        """Tell the aliases of a page what became of it."""
        before = visit.record
        if (
            not (self.canonical_links.on and before.fingerprint)
            or visit.outcome is None
            or visit.outcome.transient
        ):
            return
        now = self._context.store.records.get_record(visit.entry.key)
        is_same = now is not None and now.retained and now.fingerprint == before.fingerprint
        if now is None or not is_same or named_as(now) != named_as(before):
            self._succession.release_aliases(before, now)

    @staticmethod
    def _waits_anew(visit: Visit) -> bool:
        """Return whether a visit ended with a document that waits for the place of another."""
        return visit.ending is not None and visit.ending.cause.code is CauseCode.REPLACES

    def _represents(self, visit: Visit, fingerprint: bytes) -> bool:
        """Return whether a finished visit holds a content, or is a known duplicate of it."""
        now = self._context.store.records.get_record(visit.entry.key)
        if now is None or now.fingerprint != fingerprint or now.removal is not None:
            return False
        return self._holders.has_place(now) or now.outcome is UrlOutcome.DUPLICATE

    def document_leaving(self, record: UrlRecord) -> None:
        """Fetch a duplicate of a document that is to be removed without a visit."""
        if record.fingerprint and self._marks.compares(record.url):
            if self.canonical_links.on:
                self._succession.release_aliases(record, None)
            self._succession.elect_successor(record)


class OpenVisits:
    """Visits in flight by fingerprint, and the fingerprints that several documents share."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[bytes, Visit]] = {}
        """Fingerprint and visit, by key."""
        self._number_open: Counter[bytes] = Counter()
        self._contested: set[bytes] = set()
        """Fingerprints with more than one open visit, or with another document in the index."""

    def enter(self, visit: Visit, *, contested: bool) -> None:
        """Add a visit; `contested` tells that another document has its content."""
        self.leave(visit)
        self._open[visit.entry.key] = visit.page.fingerprint, visit
        self._number_open[visit.page.fingerprint] += 1
        if contested or self._number_open[visit.page.fingerprint] > 1:
            self._contested.add(visit.page.fingerprint)

    def leave(self, visit: Visit) -> bytes:
        """Remove a visit; returns its fingerprint if other documents shared it, else an empty one."""
        fingerprint, _ = self._open.pop(visit.entry.key, (b"", visit))
        if not fingerprint:
            return b""
        contested = fingerprint if fingerprint in self._contested else b""
        self._number_open[fingerprint] -= 1
        if not self._number_open[fingerprint]:
            del self._number_open[fingerprint]
            self._contested.discard(fingerprint)
        return contested

    def is_contested(self, fingerprint: bytes) -> bool:
        """Return whether another document has, or may get, the content of an open visit."""
        return fingerprint in self._contested

    def of_content(self, fingerprint: bytes) -> Iterator[Visit]:
        """Yield the open visits with a fingerprint."""
        return (visit for open_fingerprint, visit in self._open.values() if open_fingerprint == fingerprint)


class DocumentMarks:
    """Makes the marks of the documents of a source."""

    def __init__(self, context: CrawlContext) -> None:
        self._rules = context.rules
        self._fingerprints = context.rules.fingerprints
        self._readers = frozenset(context.source.acl)
        self._derives_readers = context.source.derives_readers
        self._uses_canonical = context.source.duplicates.canonical

    @property
    def finds_near(self) -> bool:
        """Whether documents with nearly equal texts are compared."""
        return self._fingerprints is not None and self._fingerprints.near

    def compares(self, url: str) -> bool:
        """Return whether the document of an access URL is compared with others."""
        return self._fingerprints is not None and self._fingerprints.compares(url)

    def of_page(self, visit: Visit, page: Page, body: bytes) -> tuple[ContentMark, Callable[[], int | None]]:
        """Return the mark of a document without its readers, and a function that computes its signature."""
        fingerprints = self._fingerprints
        assert fingerprints is not None, "the document is compared"
        whole = not (visit.fetch.truncated or page.truncated)
        listed = visit.listed
        metadata = "" if listed is None else stated_metadata(listed, self._is_searchable)
        mark = ContentMark(fingerprints.of(page, body, whole=whole)).among(metadata)

        def signature() -> int | None:
            near = fingerprints.near_of(page) if whole else None
            return ContentMark(b"", near).among(metadata).signature

        return mark, signature

    def among(self, mark: ContentMark, readers: Collection[str]) -> ContentMark:
        """Return the mark of a document among those with its readers; the same if they are those of the source."""
        types = type_mark(readers) if self._derives_readers else ""
        names = list(map(without_type, readers)) if types else readers
        return mark.among("" if self._readers == set(names) else readers_mark(names)).among(types)

    def preference(self, visit: Visit, page: Page) -> int:
        """Return how much a page prefers its own URL, by its canonical link."""
        if not (page.canonical and self._uses_canonical):
            return NAMES_NONE
        policy = self._rules.url_policy
        return preference(visit.url, policy.canonical(page.canonical, page.base or visit.url) or "")

    def _is_searchable(self, name: str) -> bool:
        return name in self._rules.used_attributes or self._rules.attributes.is_searchable(name)


def alias_of(visit: Visit) -> Cause:
    """Return the cause of a page that names another one as canonical."""
    return Cause(CauseCode.CANONICAL, visit.page.canonical)
