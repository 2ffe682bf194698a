"""Detection of orphans: documents to which no page links that was read or may still be valid."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


def provable_orphans(unseen: Iterable[int], pages: Iterable[tuple[int, bytes]]) -> set[int]:
    """Return those of the unseen URLs (keys) that are orphans whatever pages contain that could not be read.

    `pages` are all known pages with the keys of their links when last read (8 bytes each). Pages that were read or
    found unchanged in this cycle link to no unseen URL; so a page that links to one was not read, and protects it,
    unless that page is an orphan itself: pages that link only to each other are orphans together. A document is
    therefore never an orphan while a page that may still link to it was not read.
    """
    orphans = set(unseen)
    targets_of: dict[int, set[int]] = {}
    protected: set[int] = set()
    for key, links in pages:
        targets = orphans.intersection(array("q", links))
        targets.discard(key)
        if key in orphans:
            targets_of[key] = targets
        else:
            protected |= targets
    while protected:
        key = protected.pop()
        if key in orphans:
            orphans.discard(key)
            protected |= targets_of.get(key, set())
    return orphans
