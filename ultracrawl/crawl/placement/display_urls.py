"""Display URLs are unique within a source: who holds one, and who has to give it back (Ultra Search 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.hooks import Feature
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import withdrawn
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit


class DisplayUrls(Feature):
    """Asked before a document is handed over, and told how visits end.

    A display URL belongs to the first document in the index that is shown under it. A page whose access URL
    is another one borrows it: from a temporary redirect, or by the word of a rewriter. What was borrowed from
    a redirect is given back when the redirect is none any more, or leads elsewhere. `lent_by_redirects` says that
    there is no rewriter, so that a URL that is fetched itself has been lent by a redirect only.
    """

    def __init__(self, context: CrawlContext, *, lent_by_redirects: bool) -> None:
        self._context = context
        self._state = context.store
        self._lent_by_redirects = lent_by_redirects

    def holder(self, visit: Visit) -> UrlRecord | None:
        """Return the other document of the source that is shown under the display URL of this visit, or None."""
        self._take_back(visit)
        shown = visit.display_url
        others = self._state.records.with_display_url(shown)
        if shown != visit.url:
            # The page fetched under this URL may hold it, too: it has no `display_url`, so `with_display_url` lacks it.
            own = self._state.records.get_records([url_key(shown)]).values()
            others += [one for one in own if one.shown_url == shown]
        return next((one for one in others if one.url != visit.url and one.retained), None)

    def visit_ending(self, visit: Visit, outcome: UrlOutcome) -> None:
        """Take the display URL back from a page that got it through a redirect, when there is no redirect now."""
        if outcome is not UrlOutcome.REDIRECTED and not outcome.transient:
            self._take_back(visit)

    def redirected(self, visit: Visit, target: str, shown: str) -> None:
        """Take the display URL back from pages that an earlier redirect of this URL led to.

        `shown` is the display URL that the target gets, empty for its own.
        """
        borrowers = self._state.records.with_display_url(visit.display_url)
        if borrowers and self._lends(visit) and not (shown and any(one.url == target for one in borrowers)):
            self._release(visit, borrowers)

    def _take_back(self, visit: Visit) -> None:
        if self._lends(visit):
            self._release(visit, self._state.records.with_display_url(visit.display_url))

    def _lends(self, visit: Visit) -> bool:
        before = visit.record.outcome is UrlOutcome.REDIRECTED
        return before or (self._lent_by_redirects and not visit.entry.display_url)

    def _release(self, visit: Visit, borrowers: list[UrlRecord]) -> None:
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
