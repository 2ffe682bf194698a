"""Interface of the links between pages and their anchor texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

LOWERED = bytes(8)
"""Stands among dropped links for a lower depth of the URL itself."""


class LinkTexts(NamedTuple):
    """The anchor texts of a document, sorted."""

    whole: tuple[str, ...] = ()
    """Texts of links to the document as a whole."""
    parts: tuple[tuple[str, str], ...] = ()
    """(fragment, text) of links to a part of the document."""


class LinkPart(Protocol):
    """The part of a `Store` with links and anchor texts.

    For each pair of anchor text and target (a URL key, with a fragment for a part of the page) the store counts the
    pages that have it, and for each text its targets. Which texts a document gets depends on these counts alone.
    A mark identifies a pair; each page stores its marks, so that its links are subtracted when it changes or leaves.
    """

    def page_links(self) -> Iterator[tuple[int, bytes]]:
        """Yield (key, link keys of 8 bytes each) of every page with links; sees flushed changes only."""

    # ---- depths

    def note_depth_due(self, key: int, dropped: bytes = LOWERED) -> None:
        """Record that depths are to be corrected: below a URL, and of the targets of links it dropped.

        `dropped` are their keys, 8 bytes each; `LOWERED`: the URL was found at a lower depth.
        """

    def depths_due(self) -> dict[int, bytes]:
        """Return what `note_depth_due` recorded, by key; sees flushed changes only."""

    def clear_depths_due(self) -> None:
        """Delete what `note_depth_due` recorded, with the next flush."""

    def linked_pages(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield (key, depth, link keys) of every page with links; sees flushed changes only."""

    def redirects(self) -> Iterator[tuple[int, int, str]]:
        """Yield (key, depth, target URL) of every URL that redirects; sees flushed changes only."""

    # ---- links of pages

    def note_anchor(self, target: int, text: str, fragment: str = "") -> int:
        """Store an anchor text of a target; returns the mark of the pair."""

    def put_page_anchors(self, key: int, marks: bytes) -> None:
        """Replace the links of a page; `marks` are unique, 8 bytes each."""

    def put_redirect(self, key: int, target: int) -> None:
        """Store the redirect target of a URL, 0 for none; its anchor texts count for the target."""

    # ---- texts of documents

    def anchor_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts that documents should have, without documents that have none; sees flushed changes only."""

    def submitted_without_texts(self, key: int) -> None:
        """Record that a document was submitted without its anchor texts, so that they are due."""

    def submitted_with_texts(self, key: int, texts: LinkTexts) -> None:
        """Record the anchor texts that were submitted with a document."""

    def note_document_removed(self, key: int) -> None:
        """Record that a document leaves the index."""

    def invalidate_submitted_texts(self) -> None:
        """Mark all documents as due, durably, because the index may have other texts than were submitted."""

    def sweep_anchors(self) -> None:
        """Let the next flush subtract the links of dropped pages, and find texts that began or ceased to count.

        Called when all pages of a run were read.
        """

    def documents_due(self, after: int | None, number: int) -> list[int]:
        """Return up to `number` documents with keys above `after` whose texts may differ from what the index has.

        Those that wait in the cache of another machine are left out: it delivers them, and their texts. In order of
        their keys. Call it after `sweep_anchors`; sees flushed changes only.
        """

    def changed_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts of those documents whose texts differ from the submitted ones; sees flushed changes only.

        They count as submitted from then on: the caller submits them. All stay due until `note_texts_arrived`.
        """

    def note_texts_arrived(self) -> None:
        """Record durably that nothing waits for an index: no document whose texts were submitted is due any more.

        Call it when `documents_due` and `changed_texts` have had all that was due.
        """

    def resubmit_due_texts(self) -> None:
        """Have all that is due differ from what was submitted, durably: it waited in a document cache that is left."""
