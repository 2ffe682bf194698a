"""Which anchor texts a document gets, from the counts of a store; the same for every storage engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nsmallest
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from ultracrawl.content.anchors import MOST_ANCHORS, MOST_SECTION_ANCHORS, SHARED
from ultracrawl.stores.port.links import LinkTexts
from ultracrawl.stores.port.texts import are_storable, storable_texts

TextRow = tuple[int, str, str, int]
"""Key of a document, fragment, anchor text, number of pages that have it."""


class AnchorLink(NamedTuple):
    """The link that a mark identifies."""

    target: int
    fragment: str
    """Fragment of the target, empty for the whole page."""
    text: str


def texts_of(rows: Iterable[TextRow]) -> LinkTexts:
    """Return the most frequent anchor texts of one document."""
    whole, parts = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for _, fragment, text, pages in rows:
        if not fragment:
            whole[fragment, text] += pages
        else:
            parts[fragment, text] += pages
    targets = Counter(text for _, text in parts)
    for part in [part for part in parts if targets[part[1]] > SHARED]:
        del parts[part]
    return LinkTexts(
        tuple(text for _, text in _most_frequent(whole, MOST_ANCHORS)),
        tuple(_most_frequent(parts, MOST_SECTION_ANCHORS)),
    )


def _most_frequent(pages: Mapping[tuple[str, str], int], number: int) -> list[tuple[str, str]]:
    """Return the `number` (fragment, text) pairs with the most pages, sorted."""
    if len(pages) > number:
        return sorted(nsmallest(number, pages, key=lambda pair: (-pages[pair], pair)))
    return sorted(pages)


def is_crowded(texts: LinkTexts) -> bool:
    """Whether a document has as many texts as the index takes, so that page counts decide."""
    return len(texts.whole) == MOST_ANCHORS or len(texts.parts) == MOST_SECTION_ANCHORS


def texts_hash(texts: LinkTexts) -> int:
    """Return a hash for comparing texts, 0 for none."""
    lines = [*texts.whole, *map("\0".join, texts.parts)]
    return xxh3_64_intdigest("\n".join(lines).encode(errors="replace")) >> 1 if lines else 0


def storable_links(links: Mapping[int, AnchorLink]) -> Mapping[int, AnchorLink]:
    """Return links by mark, with texts as every store can hold them."""
    if are_storable(chain.from_iterable(map(itemgetter(1, 2), links.values()))):
        return links
    return {
        mark: AnchorLink(target, *storable_texts(fragment, text))
        for mark, (target, fragment, text) in links.items()
    }
