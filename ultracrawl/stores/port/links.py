"""The links between pages: which page has which, and what links to documents are called."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol


class LinkPart(Protocol):
    """The part of a `Store` about links and their texts.

    Of each text of links to a target (a URL by its key, or a part of it by its fragment) the store knows how many pages
    have it, and of each text to how many targets it leads. What a document gets depends on these numbers alone. A page
    remembers its links by their marks, so that what it said is taken back when it changes or leaves.
    """

    def page_links(self) -> Iterator[tuple[int, bytes]]:
        """Yield every page that has links: its key and their keys, 8 bytes each; sees what was flushed."""

    # ---- what pages say

    def note_anchor(self, target: int, text: str, fragment: str = "") -> int:
        """Take note of a text of links; returns the mark by which a page says that it has one."""

    def put_page_anchors(self, key: int, marks: bytes) -> None:
        """Say which links a page has now: their marks, 8 bytes each, each once."""

    def put_redirect(self, key: int, target: int) -> None:
        """Say where a URL redirects to, 0 for nowhere: what is said of it is said of its target."""

    # ---- what documents get

    def anchor_texts(self, keys: Collection[int]) -> dict[int, tuple[str, ...]]:
        """Return the texts that documents should have, in their order; those without any are left out.

        Sees what was flushed.
        """

    def submitted_without_texts(self, key: int) -> None:
        """Say that a document goes to the index without its texts."""

    def submitted_with_texts(self, key: int, texts: tuple[str, ...]) -> None:
        """Say which texts the index has, or gets, for a document."""

    def document_left(self, key: int) -> None:
        """Say that a document leaves the index."""

    def doubt_submitted_texts(self) -> None:
        """Say that the index may have other texts than it was told, durably."""

    def sweep_anchors(self) -> None:
        """Have the next flush take back what dropped pages said, and see to texts that count now, or do not any more.

        Called when all pages have said what they say.
        """

    def documents_due(self, after: int | None, number: int) -> list[int]:
        """Return documents whose texts may be others than the index was told, in order of their keys.

        They are those behind the key `after`, `number` at the most. To be asked after `sweep_anchors`; sees what was
        flushed.
        """

    def changed_texts(self, keys: Collection[int]) -> dict[int, tuple[str, ...]]:
        """Return the texts of those documents whose texts are others than the index was told; sees what was flushed.

        All count as told from then on: the caller hands them over.
        """
