"""Finds the documents in which words stand one directly after the other."""

from __future__ import annotations

from collections.abc import Sequence

from ultracrawl.index.whoosh.postings import Postings, decode_positions


def phrase_documents(lists: Sequence[Postings]) -> set[int]:
    """Return the documents that hold the phrase; the lists are the postings of its words in their order."""
    common = set(min(lists, key=lambda postings: len(postings.ids)).ids)
    for postings in lists:
        common.intersection_update(postings.ids)
    if not common:
        return common
    places = [_values(postings, common) for postings in lists]
    return {docnum for docnum in common if _adjacent([values[docnum] for values in places])}


def _values(postings: Postings, wanted: set[int]) -> dict[int, bytes]:
    pairs = zip(postings.ids, postings.values or (), strict=True)
    return {docnum: value for docnum, value in pairs if docnum in wanted}


def _adjacent(values: list[bytes]) -> bool:
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
