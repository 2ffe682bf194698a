"""Decides which of the URLs with equal content is the holder: the one with the best rank."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.outcome import AS_ON_SERVER, SUBMITTED
from ultracrawl.rules.duplicates.ranking import Rank, UrlRanking
from ultracrawl.rules.urls.canonical import url_key

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit
    from ultracrawl.sources import DataSource


MAX_RESOLVED_SEEDS = 1000
"""Limit of start URLs whose redirect targets are looked up."""


def needs_approval(source: DataSource, visit: Visit) -> bool:
    """Return whether a document has to wait for approval; one from a stored response waits only if it did before.

    What was approved and is fetched again, because its machine was lost, does not wait again.
    """
    if visit.from_store and not visit.record.pending:
        return False
    return source.crawling_mode == "examine" and not _was_approved(visit)


def _was_approved(visit: Visit) -> bool:
    """Return whether a document with this text was sent to the index, and was lost on its way or there."""
    record = visit.record
    is_lost = record.outcome in AS_ON_SERVER and not (record.searchable or record.pending)
    return is_lost and bool(record.fingerprint) and record.fingerprint == visit.page.fingerprint


class ContentHolders:
    """Ranks documents with the same content; writes nothing."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.since = context.clock()
        """When the crawl began (epoch seconds)."""
        self.waiting: set[int] = set()
        """Keys of documents that wait for the place of one that is to leave."""

    def others_of_visit(self, visit: Visit) -> list[UrlRecord]:
        """Return the other records with the content of a visit."""
        same = self._context.store.records.with_fingerprint(visit.page.fingerprint)
        return [record for record in same if record.url != visit.url]

    def others_of_record(self, record: UrlRecord) -> list[UrlRecord]:
        """Return the other records with the content of a record."""
        same = self._context.store.records.with_fingerprint(record.fingerprint)
        return [other for other in same if other.url != record.url]

    def best(self, records: list[UrlRecord]) -> UrlRecord | None:
        """Return the best record that has a place; a worse one may be in the index until a commit is confirmed."""
        return min(filter(self.has_place, records), key=self.rank_of_record, default=None)

    def preferred(self, visit: Visit, others: list[UrlRecord]) -> UrlRecord | None:
        """Return the document among others that keeps its place against the document of a visit, or None."""
        holder = self.best(others)
        if holder is None:
            return None
        approved = needs_approval(self._context.source, visit) and holder.searchable
        if approved or self._repeats_change(visit, holder):
            return holder
        return holder if self.rank_of_record(holder) < self.rank_of_visit(visit) else None

    def should_replace(self, visit: Visit, holder: UrlRecord) -> bool:
        """Return whether a known duplicate outranks its holder, for example after a change of start URLs."""
        if needs_approval(self._context.source, visit):
            return False
        return self.rank_of_record(visit.record) < self.rank_of_record(holder)

    def _repeats_change(self, visit: Visit, holder: UrlRecord) -> bool:
        """Return whether a document changes to the content that another one changed to in this run.

        A server that gives one answer for all URLs looks like this. If each better page displaced the one before, all
        but one would go without the deletion guard noticing. The next run settles which one stays.
        """
        changed = holder.outcome is UrlOutcome.MODIFIED and holder.last_fetched >= self.since
        return changed and visit.record.searchable and visit.record.fingerprint != visit.page.fingerprint

    def has_place(self, record: UrlRecord) -> bool:
        """Return whether a document is in the index to stay, or waits for approval or for a place."""
        return record.retained or url_key(record.url) in self.waiting

    def is_current(self, record: UrlRecord) -> bool:
        """Return whether a document is in the index, or was submitted by its last visit before a crash."""
        return self.has_place(record) or record.searchable or record.outcome in SUBMITTED

    def rank_of_record(self, record: UrlRecord) -> Rank:
        """Return the rank of a record among those of its content; the lowest is the best."""
        return self._ranking.rank(record.url, record.preference)

    def rank_of_visit(self, visit: Visit) -> Rank:
        """Return the rank of a visit among records of its content."""
        return self._ranking.rank(visit.url, visit.page.preference)

    @cached_property
    def _ranking(self) -> UrlRanking:
        """The ranking, made when the first duplicate is found: its start URL has been visited then."""
        seeds = self._context.rules.seeds
        return UrlRanking(seeds, map(self.landing_of, seeds[:MAX_RESOLVED_SEEDS]))

    def landing_of(self, seed: str) -> str:
        """Return the final redirect target of a start URL; the URL itself if it does not redirect."""
        url, visited = seed, set[str]()
        while url not in visited:
            visited.add(url)
            record = self._context.store.records.get_record(url_key(url))
            url = (record.redirects_to if record is not None else "") or url
        return url
