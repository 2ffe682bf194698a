"""Keeps display URLs unique within a source, and returns borrowed ones to their owners (Ultra Search 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import withdrawn
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit


class DisplayUrls(Feature):
    """Checks the display URL of each document before it is indexed, and reclaims borrowed ones when visits end.

    A display URL belongs to the first document in the index that is shown under it. A page with another access URL
    borrows it, from a temporary redirect or a rewriter. A URL borrowed from a redirect is reclaimed when the redirect
    is gone or leads elsewhere. `lent_by_redirects` is true if the source has no rewriter: then only a redirect can
    have lent a URL that is itself fetched.
    """

    def __init__(self, context: CrawlContext, *, lent_by_redirects: bool) -> None:
        self._context = context
        self._state = context.store
        self._lent_by_redirects = lent_by_redirects

    def holder(self, visit: Visit) -> UrlRecord | None:
        """Return the other document of the source that is shown under the display URL of this visit, or None."""
        self._reclaim(visit)
        shown = visit.display_url
        others = self._state.records.with_display_url(shown)
        if shown != visit.url:
            # The page with this access URL may hold it, too; `with_display_url` finds only pages that borrow it.
            own = self._state.records.get_records([url_key(shown)]).values()
            others += [record for record in own if record.shown_url == shown]
        return next((record for record in others if record.url != visit.url and record.retained), None)

    def visit_ending(self, visit: Visit, outcome: UrlOutcome) -> None:
        """Reclaim the display URL that a redirect lent to another page, if the visit found no redirect any more."""
        if outcome is not UrlOutcome.REDIRECTED and not outcome.transient:
            self._reclaim(visit)

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
                self._context.documents.writer.delete(key, record.display_url)
            self._state.documents.release_document(Retained.APPROVAL, key)
            own = replace(withdrawn(record), display_url="")
            self._state.records.amend_record(key, own)
            self._context.queue.requeue(own)
