"""Finds the documents in which words stand one directly after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, compress

from ultracrawl.index.whoosh.postings import Postings, decode_differences


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
    return _in_a_row(lists, offsets, near)


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
    values = postings.values or ()
    chosen = map(wanted.__contains__, postings.ids)
    return dict(compress(zip(postings.ids, values, strict=True), chosen))


def _in_a_row(lists: Sequence[Postings], offsets: Sequence[int], near: set[int]) -> set[int]:
    """Return those of the documents in which all words stand one after the other, the rarest looked at first."""
    documents = list(near)
    shifts = [(-offset).__add__ for offset in offsets]
    found = [_values(lists[offset], near) for offset in offsets]
    steps = [decode_differences(values[docnum] for docnum in documents) for values in found]
    matching = set()
    for docnum, *differences in zip(documents, *steps, strict=True):
        starts = set(map(shifts[0], accumulate(differences[0])))
        for shift, one in zip(shifts[1:], differences[1:], strict=True):
            starts.intersection_update(map(shift, accumulate(one)))
            if not starts:
                break
        else:
            matching.add(docnum)
    return matching
