"""The links between pages: which page has which, and with which anchor texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol


class LinkTexts(NamedTuple):
    """What links to a document are called."""

    whole: tuple[str, ...] = ()
    """The texts of links to all of it, in their order."""
    parts: tuple[tuple[str, str], ...] = ()
    """The texts of links to a part of it: fragment and text, in their order."""


class LinkPart(Protocol):
    """The part of a `Store` about links and their texts.

    For each anchor text and target (a URL by its key, or a part of it by its fragment) the store counts the pages that
    have it, and for each text the targets that it leads to. Which texts a document gets depends on these numbers alone.
    Marks identify the links of a page, so that they are subtracted when the page changes or leaves.
    """

    def page_links(self) -> Iterator[tuple[int, bytes]]:
        """Yield every page that has links: its key and their keys, 8 bytes each; sees what was flushed."""

    # ---- links of pages

    def note_anchor(self, target: int, text: str, fragment: str = "") -> int:
        """Store an anchor text of a target; returns the mark that identifies both."""

    def put_page_anchors(self, key: int, marks: bytes) -> None:
        """Replace the links of a page: their marks, 8 bytes each, each once."""

    def put_redirect(self, key: int, target: int) -> None:
        """Store where a URL redirects to, 0 for nowhere: its anchor texts count for its target."""

    # ---- texts of documents

    def anchor_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts that documents should have; those without any are left out.

        Sees what was flushed.
        """

    def submitted_without_texts(self, key: int) -> None:
        """Note that a document is submitted without anchor texts."""

    def submitted_with_texts(self, key: int, texts: LinkTexts) -> None:
        """Note which anchor texts are submitted for a document."""

    def document_left(self, key: int) -> None:
        """Note that a document leaves the index."""

    def doubt_submitted_texts(self) -> None:
        """Note, durably, that the index may have other texts than were submitted."""

    def sweep_anchors(self) -> None:
        """Have the next flush subtract the links of dropped pages, and find texts that began or ceased to count.

        Called when all pages of a run were read.
        """

    def documents_due(self, after: int | None, number: int) -> list[int]:
        """Return documents whose texts may differ from those that were submitted, in order of their keys.

        They are those behind the key `after`, `number` at the most. To be asked after `sweep_anchors`; sees what was
        flushed.
        """

    def changed_texts(self, keys: Collection[int]) -> dict[int, LinkTexts]:
        """Return the texts of those documents whose texts differ from those submitted; sees what was flushed.

        They count as submitted from then on: the caller submits them.
        """
