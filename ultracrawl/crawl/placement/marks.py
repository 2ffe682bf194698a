"""Makes the marks by which documents are compared: content, metadata stated by a lister, readers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from ultracrawl.agents.entry_texts import stated_metadata
from ultracrawl.rules.duplicates.fingerprint import ContentMark, readers_mark
from ultracrawl.rules.duplicates.ranking import preference

if TYPE_CHECKING:
    from ultracrawl.agents.port import Entry
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.model import Page


class DocumentMarks:
    """Makes the marks of the documents of a source."""

    def __init__(self, context: CrawlContext) -> None:
        self._rules = context.rules
        self._fingerprints = context.rules.fingerprints
        self._readers = frozenset(context.source.acl)
        self._uses_canonical = context.source.duplicates.canonical

    def compares(self, url: str) -> bool:
        """Return whether the document of an access URL is compared with others."""
        return self._fingerprints is not None and self._fingerprints.compares(url)

    def of_page(
        self, visit: Visit, page: Page, body: bytes, entry: Entry | None
    ) -> tuple[ContentMark, Callable[[], int | None]]:
        """Return the mark of a document without its readers, and a function that computes its simhash.

        `entry` is that of the lister, if there is one.
        """
        fingerprints = self._fingerprints
        assert fingerprints is not None, "the document is compared"
        whole = not (visit.fetch.truncated or page.truncated)
        metadata = "" if entry is None else stated_metadata(entry, self._is_searchable)
        mark = ContentMark(fingerprints.of(page, body, whole=whole)).among(metadata)

        def simhash() -> int | None:
            near = fingerprints.near_of(page) if whole else None
            return ContentMark(b"", near).among(metadata).simhash

        return mark, simhash

    def of_readers(self, readers: Collection[str]) -> str:
        """Return the mark of readers; empty if they are those of the source."""
        return "" if self._readers == set(readers) else readers_mark(readers)

    def preference(self, visit: Visit, page: Page) -> int:
        """Return how much a page prefers its own URL, by its canonical link."""
        if not (page.canonical and self._uses_canonical):
            return preference(visit.url, "")
        policy = self._rules.url_policy
        return preference(visit.url, policy.canonical(page.canonical, page.base or visit.url) or "")

    def _is_searchable(self, name: str) -> bool:
        return name in self._rules.used_attributes or self._rules.attributes.is_searchable(name)
