"""A document is indexed once, however many URLs of its source have it (Ultra Search 6.3, FAST 5.1 H)."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.recorder import HANDED
from ultracrawl.crawl.removal.pending import packed
from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.boundary.expressions import compiled
from ultracrawl.rules.duplicates import Rank, preference, rank, rank_of
from ultracrawl.rules.urls import url_key
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.crawl.session import CrawlSession
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Page

logger = logging.getLogger(__name__)


class Duplicates:
    """Asked before a page is followed and again before it is indexed, told how visits end.

    Records with equal fingerprints are one document. Of them the one with the lowest rank is in the index, its
    holder; a better one that is met later takes the place of a worse one at once, unless both have just changed to
    that content. When a holder changes, the best of the remembered others is fetched in the same run and takes its
    place. When a holder is to leave, that one is fetched, too, but its document waits in the state: `Deletions`
    hands it over when the holder leaves indeed.

    A document that waits for an approval holds its place like one in the index, but never displaces one there.
    """

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        self._options = session.context.source.duplicates
        self._prints = session.context.rules.fingerprints
        self._seeds = frozenset(session.context.rules.seeds)
        always = self._options.always_listed
        self._always_listed = compiled(always) if always else None
        self._since = session.context.clock()
        self._open: dict[int, tuple[bytes, Visit]] = {}
        """Visits that are to be indexed and have not ended, with their fingerprints, by key."""
        self._number_open: Counter[bytes] = Counter()
        self._contested: set[bytes] = set()
        """Fingerprints of which more than one visit was open, or another document is in the index."""
        self._waiting: set[int] = set()
        """Keys of documents that wait for the place of one that is to leave."""

    def open(self) -> None:
        """Take note of what an earlier run left."""
        self._waiting.update(self._session.context.store.documents.retained_keys(Retained.REPLACEMENT))

    def waits(self, key: int) -> bool:
        """Return whether the document of a URL waits for the place of one that is to leave the index."""
        return key in self._waiting

    # ---- before a document is indexed

    def find(self, visit: Visit, page: Page, body: bytes) -> UrlRecord | None:
        """Return the document that has the content of this page and stays in the index for it, or None.

        Notes in the visit by what it is compared; called once for each page that would be indexed.
        """
        if self._prints is None:
            return None
        visit.preference = self._preference(visit, page)
        whole = not (visit.truncated or page.truncated)
        visit.fingerprint = self._prints.of(page, body, whole=whole)
        others = self._others(visit)
        if not others and self._prints.near and whole:
            others = self._near(visit, self._prints.near_of(page))
        holder = self._preferred(visit, others)
        if holder is None:
            self._enter(visit, contested=any(map(self._is_current, others)))
        return holder

    def _preference(self, visit: Visit, page: Page) -> int:
        if not (page.canonical and self._options.canonical):
            return preference(visit.url, "")
        policy = self._session.context.rules.url_policy
        return preference(visit.url, policy.canonical(page.canonical, page.base or visit.url) or "")

    def _near(self, visit: Visit, simhash: int | None) -> list[UrlRecord]:
        """Return the documents with a text near this one; the visit is compared by their fingerprint then."""
        if simhash is None:
            return []
        records = self._session.context.store.records
        found = records.nearest_simhash(simhash, self._options.near_distance)
        if found is None:
            records.put_simhash(visit.fingerprint, simhash)
            return []
        visit.fingerprint = found
        return self._others(visit)

    def _enter(self, visit: Visit, *, contested: bool) -> None:
        self._leave(visit)
        self._open[visit.entry.key] = visit.fingerprint, visit
        self._number_open[visit.fingerprint] += 1
        if contested or self._number_open[visit.fingerprint] > 1:
            self._contested.add(visit.fingerprint)

    def find_again(self, visit: Visit) -> UrlRecord | None:
        """Return the same as `find`, for a page that was on its way while others of its content were, too."""
        if visit.fingerprint not in self._contested:
            return None
        return self._preferred(visit, self._others(visit)) or self._rival(visit)

    def _rival(self, visit: Visit) -> UrlRecord | None:
        """Return the best page of the same content that is on its way as well, if it comes before a new one.

        Should it not get there, the other is fetched once more and takes its place.
        """
        if visit.record.held or visit.record.searchable:
            return None
        same = (one for print_, one in self._open.values() if print_ == visit.fingerprint)
        best = min(same, key=self._rank, default=visit)
        return None if best is visit else best.record

    def _preferred(self, visit: Visit, others: list[UrlRecord]) -> UrlRecord | None:
        """Return the document among others that keeps its place before that of a visit, or None."""
        holder = self._best(others)
        if holder is None:
            return None
        approved = self._session.examines(visit) and holder.searchable
        if approved or self._would_follow(visit, holder):
            return holder
        return holder if self._rank_of(holder) < self._rank(visit) else None

    def _would_follow(self, visit: Visit, holder: UrlRecord) -> bool:
        """Return whether a document changes to what another one changed to in this run, as if a server had one answer.

        Were it to take that place, each better page would throw out the one before, and the guard of deletions
        would see none of them leave. What is right is settled by the next run.
        """
        changed = holder.outcome is UrlOutcome.MODIFIED and holder.last_fetched >= self._since
        return changed and visit.record.searchable and visit.record.fingerprint != visit.fingerprint

    def _others(self, visit: Visit) -> list[UrlRecord]:
        same = self._session.context.store.records.same_content(visit.fingerprint)
        return [record for record in same if record.url != visit.url]

    def _best(self, records: list[UrlRecord]) -> UrlRecord | None:
        """Return the best of those that have a place; a worse one may be there until a commit is confirmed."""
        return min(filter(self._has_place, records), key=self._rank_of, default=None)

    def _has_place(self, record: UrlRecord) -> bool:
        """Return whether a document is in the index to stay, or waits: for an approval, or for a place."""
        return record.held or url_key(record.url) in self._waiting

    def _is_current(self, record: UrlRecord) -> bool:
        """Return whether a document is in the index, or is by what its last visit did, though a crash came between."""
        return self._has_place(record) or record.searchable or record.outcome in HANDED

    def _rank_of(self, record: UrlRecord) -> Rank:
        return rank_of(record, self._seeds)

    def _rank(self, visit: Visit) -> Rank:
        return rank(visit.url, visit.preference, self._seeds)

    # ---- duplicates

    def refuse(self, visit: Visit, holder: UrlRecord) -> None:
        """End a visit whose content another document has (909)."""
        if not self._is_listed(visit.url, self._others(visit)):
            # Without validators it is looked at again in the next run, and is not forgotten for good.
            visit.fingerprint = b""
            visit.etag = visit.last_modified = ""
        logger.info("30083 duplicate document ignored: %s has the content of %s", visit.url, holder.url)
        self._session.context.endings.finish(
            visit, UrlOutcome.DUPLICATE, StatusCode.DUPLICATE_DETECTED, _reason(holder)
        )

    def _is_listed(self, url: str, others: list[UrlRecord]) -> bool:
        """Return whether a duplicate is remembered, `others` being those of the same content."""
        remembered = sum(not one.searchable and one.url != url for one in others)
        if remembered < self._options.listed:
            return True
        return self._always_listed is not None and self._always_listed.fullmatch(url) is not None

    def stays(self, visit: Visit) -> bool:
        """End the visit of an unchanged page (304) that is known as a duplicate (910); False for other pages."""
        record = visit.record
        if not record.fingerprint or record.searchable or record.pending:
            return False
        holder = self._best(self._others_of(record))
        if holder is None and not self.waits(visit.entry.key) and not visit.rescan:
            self._session.context.queue.again(record)  # nobody has the content now
        reason = _reason(holder) if holder is not None else record.reason
        self._session.context.endings.finish(
            visit, UrlOutcome.DUPLICATE, StatusCode.DUPLICATE_IGNORED, reason
        )
        return True

    def _others_of(self, record: UrlRecord) -> list[UrlRecord]:
        same = self._session.context.store.records.same_content(record.fingerprint)
        return [one for one in same if one.url != record.url]

    # ---- one takes the place of another

    def displace(self, visit: Visit) -> None:
        """Take worse documents of the same content out of their place; called when this one has taken it."""
        if visit.fingerprint not in self._contested:
            return
        for record in self._others(visit):
            if self._is_current(record) and not record.leaving:
                self._demote(record, visit)
            elif record.outcome is UrlOutcome.DUPLICATE and not record.leaving:
                self._amend(replace(record, reason=_reason(visit.record)))

    def succeeds(self, visit: Visit, document: IndexDocument) -> bool:
        """End a visit whose content is in the index under a URL that is to leave it: its document waits for that."""
        if visit.fingerprint not in self._contested:
            return False
        leaving = next((one for one in self._others(visit) if one.searchable and one.leaving), None)
        if leaving is None:
            return False
        key = visit.entry.key
        self._session.context.store.documents.retain_document(
            Retained.REPLACEMENT, key, packed(key, document)
        )
        self._waiting.add(key)
        self.displace(visit)
        self._session.context.endings.finish(
            visit,
            UrlOutcome.DUPLICATE,
            StatusCode.DUPLICATE_DETECTED,
            f"takes the place of {leaving.url} when that leaves the index",
        )
        return True

    def _demote(self, record: UrlRecord, winner: Visit) -> None:
        session = self._session
        key = url_key(record.url)
        if record.searchable:
            session.context.documents.delete(key, record.shown_url)
        if record.pending:
            session.context.store.documents.release_document(Retained.APPROVAL, key)
        self._forget(key)
        logger.info("30083 duplicate document ignored: %s has the content of %s", record.url, winner.url)
        demoted = replace(
            record,
            outcome=UrlOutcome.DUPLICATE,
            status_code=StatusCode.DUPLICATE_DETECTED,
            reason=_reason(winner.record),
            indexed=False,
            handed=False,
            pending=False,
        )
        if not self._is_listed(record.url, self._others(winner)):
            demoted = replace(demoted, fingerprint=b"", etag="", last_modified="")
        self._amend(demoted)
        self.recount(record, demoted)

    def _amend(self, record: UrlRecord) -> None:
        self._session.context.store.records.amend_record(url_key(record.url), record)
        self._session.context.queue.amended(record)

    def recount(self, before: UrlRecord, after: UrlRecord) -> None:
        """Have the report count the new outcome of a URL in place of that of its visit in this run."""
        if before.last_fetched >= self._since:
            self._session.context.endings.recount(before, after)

    def _forget(self, key: int) -> None:
        if key in self._waiting:
            self._waiting.discard(key)
            self._session.context.store.documents.release_document(Retained.REPLACEMENT, key)

    def ended(self, visit: Visit) -> None:
        """Take note of a visit's end: if nobody is left in the index for its former content, somebody is fetched."""
        contested = self._leave(visit)
        before = visit.record
        if visit.outcome is None or self._prints is None:
            return
        if contested and contested != before.fingerprint and not self._keeps(visit, contested):
            self._elect(replace(before, fingerprint=contested))
        if not before.fingerprint or self._keeps(visit, before.fingerprint):
            return
        if not visit.outcome.transient:
            self._forget(visit.entry.key)
        self._elect(before)

    def _keeps(self, visit: Visit, fingerprint: bytes) -> bool:
        """Return whether a visit that ended stands for a content, or is known as a copy of it."""
        now = self._session.context.store.records.get_record(visit.entry.key)
        if now is None or now.fingerprint != fingerprint:
            return False
        return self._has_place(now) or now.outcome is UrlOutcome.DUPLICATE

    def left(self, record: UrlRecord) -> None:
        """Take note of a document that is to leave without a visit: an orphan."""
        if record.fingerprint and self._prints is not None:
            self._elect(record)

    def _leave(self, visit: Visit) -> bytes:
        """Take note that a visit is on its way no more; returns its fingerprint if others had it, too."""
        fingerprint, _ = self._open.pop(visit.entry.key, (b"", visit))
        if not fingerprint:
            return b""
        contested = fingerprint if fingerprint in self._contested else b""
        self._number_open[fingerprint] -= 1
        if not self._number_open[fingerprint]:
            del self._number_open[fingerprint]
            self._contested.discard(fingerprint)
        return contested

    def _elect(self, left: UrlRecord) -> None:
        """Have the best of the remembered duplicates fetched, unless one is in the index or on its way."""
        others = self._others_of(left)
        ready = [one for one in others if not one.failures and not one.leaving]
        if self._best(others) is not None or any(not one.checksum for one in ready):
            return
        best = min(ready, key=self._rank_of, default=None)
        if best is None:
            return
        logger.info("%s takes the place of %s", best.url, left.url)
        chosen = replace(best, etag="", last_modified="", checksum=b"")
        self._session.context.store.records.amend_record(url_key(best.url), chosen)
        self._session.context.queue.again(chosen)


def _reason(holder: UrlRecord) -> str:
    return f"has the content of {holder.url}"
