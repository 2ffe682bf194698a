"""Which of the URLs with equal content stands for it: documents with equal fingerprints are one, the best counts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.rules.duplicates.ranking import Rank, UrlRanking
from ultracrawl.rules.urls.canonical import url_key

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.sources import DataSource


MOST_LANDINGS = 1000
"""Start URLs of which it is looked up where they redirect to."""


def needs_approval(source: DataSource, visit: Visit) -> bool:
    """Return whether a document has to wait for an approval; one that is made again waits only if it did."""
    if visit.from_store and not visit.record.pending:
        return False
    return source.crawling_mode == "examine"


class ContentHolders:
    """Tells which of several documents with the same content is the one in the index. Writes nothing."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.since = context.clock()
        """When the crawl began."""
        self.waiting: set[int] = set()
        """Keys of documents that wait for the place of one that is to leave."""

    def others_of_visit(self, visit: Visit) -> list[UrlRecord]:
        """Return what else has the content of a visit."""
        same = self._context.store.records.with_fingerprint(visit.page.fingerprint)
        return [record for record in same if record.url != visit.url]

    def others_of_record(self, record: UrlRecord) -> list[UrlRecord]:
        """Return what else has the content of a record."""
        same = self._context.store.records.with_fingerprint(record.fingerprint)
        return [one for one in same if one.url != record.url]

    def best(self, records: list[UrlRecord]) -> UrlRecord | None:
        """Return the best of those that have a place; a worse one may be there until a commit is confirmed."""
        return min(filter(self.has_place, records), key=self.rank_of_record, default=None)

    def preferred(self, visit: Visit, others: list[UrlRecord]) -> UrlRecord | None:
        """Return the document among others that keeps its place before that of a visit, or None."""
        holder = self.best(others)
        if holder is None:
            return None
        approved = needs_approval(self._context.source, visit) and holder.searchable
        if approved or self._would_follow(visit, holder):
            return holder
        return holder if self.rank_of_record(holder) < self.rank_of_visit(visit) else None

    def ought_to_stand(self, visit: Visit, holder: UrlRecord) -> bool:
        """Return whether a known duplicate comes before the document that stands for it: the start was another once."""
        if needs_approval(self._context.source, visit):
            return False
        return self.rank_of_record(visit.record) < self.rank_of_record(holder)

    def _would_follow(self, visit: Visit, holder: UrlRecord) -> bool:
        """Return whether a document changes to what another one changed to in this run, as if a server had one answer.

        Were it to take that place, each better page would throw out the one before, and the guard of deletions
        would see none of them leave. What is right is settled by the next run.
        """
        changed = holder.outcome is UrlOutcome.MODIFIED and holder.last_fetched >= self.since
        return changed and visit.record.searchable and visit.record.fingerprint != visit.page.fingerprint

    def has_place(self, record: UrlRecord) -> bool:
        """Return whether a document is in the index to stay, or waits: for an approval, or for a place."""
        return record.retained or url_key(record.url) in self.waiting

    def is_current(self, record: UrlRecord) -> bool:
        """Return whether a document is in the index, or is by what its last visit did, though a crash came between."""
        return self.has_place(record) or record.searchable or record.outcome in SUBMITTED

    def rank_of_record(self, record: UrlRecord) -> Rank:
        """Return by what a record is compared with others of its content; the lowest is the best."""
        return self._ranking.rank(record.url, record.preference)

    def rank_of_visit(self, visit: Visit) -> Rank:
        """Return the same for a visit."""
        return self._ranking.rank(visit.url, visit.page.preference)

    @cached_property
    def _ranking(self) -> UrlRanking:
        """Made when the first copy is met: the start URL that led to it has been visited then."""
        seeds = self._context.rules.seeds
        return UrlRanking(seeds, map(self._landing, seeds[:MOST_LANDINGS]))

    def _landing(self, seed: str) -> str:
        """Return what a start URL redirects to in the end; itself if it does not."""
        url, met = seed, set[str]()
        while url not in met:
            met.add(url)
            record = self._context.store.records.get_record(url_key(url))
            url = (record.redirects_to if record is not None else "") or url
        return url
