"""Keeps display URLs unique within a source, and returns borrowed ones to their owners (Ultra Search 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.model.outcome import WITH_DOCUMENT
from ultracrawl.model.record_changes import demoted, withdrawn, without_validators
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.placement.holders import needs_approval
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

_STAY = WITH_DOCUMENT | {UrlOutcome.HELD_BACK}
"""Outcomes after which the document of a URL has the place that it had."""


class DisplayUrls(Feature):
    """Checks the display URL of each document before it is indexed, and reclaims borrowed ones when visits end.

    A display URL belongs to the first document in the index that is shown under it; of listed documents to the one
    whose access URL sorts first, however fast each of them is read. When that one leaves, the next one is read in the
    same run, and takes its place. A page with another access URL borrows the display URL, from a temporary redirect or
    a rewriter. A URL borrowed from a redirect is reclaimed when the redirect is gone or leads elsewhere.
    `lent_by_redirects` is true if the source has no rewriter: then only a redirect can have lent a URL that is itself
    fetched, unless a lister has said how documents are shown.
    """

    def __init__(self, context: CrawlContext, *, lent_by_redirects: bool) -> None:
        self._context = context
        self._state = context.store
        self._is_listed = context.rules.listed
        self._lent_by_redirects = lent_by_redirects and not self._is_listed
        self._outranking: set[int] = set()
        """Keys of visits that are to take the display URL of another document."""
        self._released: set[str] = set()
        """Display URLs that their documents have no longer, and that others are to have."""

    def holder(self, visit: Visit) -> UrlRecord | None:
        """Return the other document of the source to which the display URL of this visit belongs, or None."""
        self._reclaim(visit)
        self._outranking.discard(visit.entry.key)
        holders = self._holders(visit.display_url, visit.url)
        if holders and self._outranks(visit, holders):
            self._outranking.add(visit.entry.key)
            return None
        return next(iter(holders), None)

    def _outranks(self, visit: Visit, holders: list[UrlRecord]) -> bool:
        """Return whether a listed document takes the display URL of others; not while it waits for approval."""
        if not self._is_listed or any(record.url < visit.url for record in holders):
            return False
        is_searchable = any(record.searchable for record in holders)
        return not (is_searchable and needs_approval(self._context.source, visit))

    def remains_second(self, record: UrlRecord) -> bool:
        """Return whether the display URL of a record that ended as 956 still belongs to another document."""
        return any(other.url < record.url for other in self._holders(record.shown_url, record.url))

    def _holders(self, shown: str, url: str) -> list[UrlRecord]:
        """Return the documents in the index, or on their way there, with a display URL and another access URL."""
        shown_there = self._with_shown_url(shown, but=url)
        return [record for record in shown_there if record.url != url and record.retained]

    def _seconds(self, shown: str) -> list[UrlRecord]:
        """Return the documents that ended as 956 because another one has this display URL."""
        return [one for one in self._with_shown_url(shown) if one.status_code == StatusCode.NOT_UNIQUE]

    def _with_shown_url(self, shown: str, *, but: str = "") -> list[UrlRecord]:
        """Return the records with a display URL; that whose access URL it is too, unless it is the URL `but`."""
        found = self._state.records.with_display_url(shown)  # finds only pages that borrow it
        if shown != but:
            own = self._state.records.get_records([url_key(shown)]).values()
            found += [record for record in own if record.shown_url == shown]
        return found

    def displace(self, visit: Visit) -> None:
        """Take the document out of the index whose display URL a visit takes; called when it gets its place."""
        key = visit.entry.key
        if key in self._outranking:
            self._outranking.discard(key)
            for record in self._holders(visit.display_url, visit.url):
                self._demote(record, visit)

    def _demote(self, record: UrlRecord, winner: Visit) -> None:
        cause = Cause(CauseCode.SAME_DISPLAY_URL, winner.url, winner.display_url)
        second = demoted(record, StatusCode.NOT_UNIQUE, cause)
        self._context.documents.demote(record, replace(second, checksum=b"", fingerprint=b"", sketch=b""))
        for on_leaving in self._context.hooks[Feature.document_leaving]:
            on_leaving(record)

    def document_leaving(self, record: UrlRecord) -> None:
        """Give the display URL of a document that leaves to the next one."""
        if not self._is_listed:
            return
        now = self._state.records.get_record(url_key(record.url))
        if now is None or now.status_code != StatusCode.NOT_UNIQUE:
            self.release(record)

    def release(self, record: UrlRecord) -> None:
        """Let the next document have the display URL that a listed one has no longer, when the listing has ended."""
        self._note_released(record)
        if not self._context.run.is_listing:
            self._pass_on_released()

    def _note_released(self, record: UrlRecord) -> None:
        if self._is_listed and self._seconds(record.shown_url):
            self._released.add(record.shown_url)

    def cycle_ended(self) -> int:
        """Fetch the documents that get display URLs of others; returns their number."""
        return self._pass_on_released()

    def _pass_on_released(self) -> int:
        released, self._released = self._released, set()
        number = 0
        for shown in released:
            best = min(self._seconds(shown), key=lambda record: record.url, default=None)
            if best is not None and not self.remains_second(best):
                chosen = without_validators(best)
                self._state.records.amend_record(url_key(best.url), chosen)
                self._context.queue.requeue(chosen)
                number += 1
        return number

    def visit_ending(self, visit: Visit, outcome: UrlOutcome) -> None:
        """Reclaim the display URL that a redirect lent to another page, if the visit found no redirect any more.

        That of a document that leaves goes to the next one.
        """
        if outcome is not UrlOutcome.REDIRECTED and not outcome.transient:
            self._reclaim(visit)
        if self._is_listed and visit.record.retained and not (outcome.transient or outcome in _STAY):
            self._note_released(visit.record)

    def redirected(self, visit: Visit, target: str, shown: str) -> None:
        """Reclaim the display URL from pages that an earlier redirect of this URL led to.

        `shown` is the display URL that the target gets, empty for its own.
        """
        borrowers = self._state.records.with_display_url(visit.display_url)
        keeps_name = shown and any(record.url == target for record in borrowers)
        if borrowers and self._may_have_lent(visit) and not keeps_name:
            self._restore_own_urls(visit, borrowers)

    def _reclaim(self, visit: Visit) -> None:
        if self._may_have_lent(visit):
            self._restore_own_urls(visit, self._state.records.with_display_url(visit.display_url))

    def _may_have_lent(self, visit: Visit) -> bool:
        before = visit.record.outcome is UrlOutcome.REDIRECTED
        return before or (self._lent_by_redirects and not visit.entry.display_url)

    def _restore_own_urls(self, visit: Visit, borrowers: list[UrlRecord]) -> None:
        """Give pages their own display URL again: they are removed under the borrowed one, and fetched again."""
        for record in borrowers:
            if record.url == visit.url:
                continue
            key = url_key(record.url)
            if record.searchable:
                self._context.documents.writer.delete(key, record)
            self._state.documents.release_document(Retained.APPROVAL, key)
            own = replace(withdrawn(record), display_url="")
            self._state.records.amend_record(key, own)
            self._context.queue.requeue(own)
