"""Which documents may be called orphans: nothing that was read or that may still be right leads to them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


def provable(unseen: Iterable[int], pages: Iterable[tuple[int, bytes]]) -> set[int]:
    """Return those of the unseen URLs (keys) that are orphans whatever the pages that could not be read say.

    `pages` are all known pages with the keys of their links, as they were read last (8 bytes each). Links of a page
    that was read or found unchanged in this cycle lead to no unseen URL; so a page that still has one as
    its link was not read, and protects it, unless that page is an orphan itself: pages that link only to each
    other are orphans together. A document is so never given up while a page that may still link to it was not read.
    """
    left = set(unseen)
    among: dict[int, set[int]] = {}
    protected: set[int] = set()
    for key, links in pages:
        targets = left.intersection(array("q", links))
        targets.discard(key)
        if key in left:
            among[key] = targets
        else:
            protected |= targets
    while protected:
        key = protected.pop()
        if key in left:
            left.discard(key)
            protected |= among.get(key, set())
    return left
