"""Finds the documents in which words stand one directly after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from ultracrawl.index.whoosh.postings import Postings, decode_differences, decode_positions


def phrase_documents(lists: Sequence[Postings]) -> set[int]:
    """Return the documents that hold the phrase; the lists are the postings of its words in their order.

    The two rarest words are compared in all documents that have all words, the others only where
    those two stand at the right distance.
    """
    common = set(min(lists, key=lambda postings: len(postings.ids)).ids)
    for postings in lists:
        common.intersection_update(postings.ids)
    if not common or len(lists) == 1:
        return common
    offsets = sorted(range(len(lists)), key=lambda offset: sum(lists[offset].weights))
    near = _at_distance(lists, offsets[0], offsets[1], common)
    if len(lists) == 2 or not near:
        return near
    places = [_values(postings, near) for postings in lists]
    return {docnum for docnum in near if _adjacent([values[docnum] for values in places])}


def _at_distance(lists: Sequence[Postings], first: int, second: int, common: set[int]) -> set[int]:
    """Return the documents in which the words at two places of the phrase stand so far from each other."""
    ones, others = (_values(lists[offset], common) for offset in (first, second))
    shift = (second - first).__add__
    ordered = ones.keys()
    pairs = zip(
        ordered,
        decode_differences(ones.values()),
        decode_differences(others[docnum] for docnum in ordered),
        strict=True,
    )
    return {
        docnum
        for docnum, one, other in pairs
        if not set(map(shift, accumulate(one))).isdisjoint(accumulate(other))
    }


def _values(postings: Postings, wanted: set[int]) -> dict[int, bytes]:
    pairs = zip(postings.ids, postings.values or (), strict=True)
    return {docnum: value for docnum, value in pairs if docnum in wanted}


def _adjacent(values: Iterable[bytes]) -> bool:
    """Return whether the words whose encoded positions these are stand one after the other somewhere.

    The word with the fewest positions comes first, so that the others are only compared with few.
    """
    shortest, *others = sorted(enumerate(values), key=lambda pair: len(pair[1]))
    starts = {position - shortest[0] for position in decode_positions(shortest[1])}
    for offset, value in others:
        wanted = {start + offset for start in starts}
        starts = {position - offset for position in wanted.intersection(decode_positions(value))}
        if not starts:
            return False
    return True
