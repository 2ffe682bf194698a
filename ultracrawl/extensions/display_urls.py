"""Display URLs are unique within a source: who holds one, and who has to give it back (Ultra Search 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ultracrawl.extensions.feed import IndexFeed
from ultracrawl.extensions.visit import Visit
from ultracrawl.model import UrlRecord
from ultracrawl.state import StateStore
from ultracrawl.urls import url_key


class DisplayUrls:
    """Asked before a document is handed over, and told when a URL that redirected does so no more.

    A display URL belongs to the first document in the index that is shown under it. A page whose access URL
    is another one borrows it: from a temporary redirect, or by the word of a rewriter.
    """

    def __init__(self, state: StateStore, feed: IndexFeed, again: Callable[[UrlRecord], None]) -> None:
        self._state = state
        self._feed = feed
        self._again = again

    def holder(self, visit: Visit) -> UrlRecord | None:
        """Return the other document of the source that is shown under the display URL of this visit, or None."""
        shown = visit.shown_url
        others = self._state.shown_as(shown)
        if shown != visit.url:
            own = self._state.get(url_key(shown))
            if own is not None and own.shown_url == shown:
                others.append(own)
        return next((one for one in others if one.url != visit.url and (one.indexed or one.handed)), None)

    def release(self, visit: Visit, keep: str = "") -> None:
        """Let all pages that are shown under the URL of a visit, but the one at `keep`, go by their own URL.

        They leave the index under the borrowed name and are fetched again.
        """
        for record in self._state.shown_as(visit.shown_url):
            if record.url in (visit.url, keep):
                continue
            key = url_key(record.url)
            if record.indexed or record.handed:
                self._feed.delete(key, record.display_url)
            own = replace(
                record, display_url="", etag="", last_modified="", checksum=b"", indexed=False, handed=False
            )
            self._state.amend(key, own)
            self._again(own)
