"""The postings of a segment in the making: a dictionary of terms, not a sorted list of postings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import sub
from pickle import dumps
from struct import Struct

from ultracrawl.index.whoosh.fields import Passages

Posting = tuple[bytes, int, float, bytes]
"""Term, frequency, weight and encoded positions, as Whoosh's fields give them."""

PostingList = list[int | float | bytes]
"""Document number, weight and value of every posting of a term, one after the other, in document order."""

_pack_count = Struct("!I").pack


class TermPool:
    """Collects postings by field and term; `lengths` are the field lengths of the documents so far."""

    def __init__(self) -> None:
        self.fields: defaultdict[str, defaultdict[str | bytes, PostingList]] = defaultdict(
            lambda: defaultdict(list)
        )

    def add_words(self, fieldname: str, docnum: int, found: Sequence[str]) -> int:
        """Add words with their positions and return how many there are."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for position, word in enumerate(found):
            places[word].append(position)
        self._add_places(fieldname, docnum, places, len(found))
        return len(found)

    def add_passages(self, fieldname: str, docnum: int, passages: Passages) -> int:
        """Add the words of several texts, with a gap between their positions; returns how many there are."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        start = 0
        for passage in passages:
            for position, word in enumerate(passage, start):
                places[word].append(position)
            start += len(passage) + 1
        self._add_places(fieldname, docnum, places, start)
        return start - len(passages)

    def _add_places(self, fieldname: str, docnum: int, places: dict[str, list[int]], end: int) -> None:
        """Add words with their positions, which are below `end`."""
        terms = self.fields[fieldname]
        numbers = _pickled_numbers(end)
        for word, positions in places.items():
            if len(positions) == 1:
                terms[word] += (docnum, 1.0, _ONE + numbers[positions[0]] + _ONE_END)
            else:
                terms[word] += (docnum, float(len(positions)), _encode(positions, numbers))

    def add_counted(self, fieldname: str, docnum: int, found: Iterable[str]) -> None:
        """Add words with their frequencies only."""
        terms = self.fields[fieldname]
        for word, count in Counter(found).items():
            terms[word] += (docnum, float(count), _pack_count(count))

    def add_values(self, fieldname: str, docnum: int, values: Iterable[str]) -> None:
        """Add whole values as terms that are only known to occur."""
        terms = self.fields[fieldname]
        for value in set(values):
            terms[value] += (docnum, 1.0, b"")

    def add_postings(self, fieldname: str, docnum: int, postings: Iterable[Posting]) -> int:
        """Add what a field of any kind made of its value and return the field's length."""
        terms = self.fields[fieldname]
        length = 0
        for term, frequency, weight, value in postings:
            terms[term] += (docnum, weight, value)
            length += frequency
        return length

    def sorted_terms(self) -> Iterator[tuple[str, bytes, PostingList]]:
        """Yield field name, term and postings in the order of the term file; afterwards the pool is empty."""
        for fieldname in sorted(self.fields):
            terms = self.fields.pop(fieldname)
            for term in sorted(terms):
                yield fieldname, term if isinstance(term, bytes) else term.encode(), terms.pop(term)


def encode_positions(positions: list[int]) -> bytes:
    """Return positions as Whoosh's Positions format does: their count, then the pickled differences."""
    return _encode(positions, _pickled_numbers(positions[-1] + 1))


def _encode(positions: list[int], numbers: Sequence[bytes]) -> bytes:
    """Write the pickle of a short list by hand, which takes half the time; `numbers` are pickled numbers."""
    count = len(positions)
    if count == 1:
        return _ONE + numbers[positions[0]] + _ONE_END
    if count == 2:
        first, second = positions
        return _TWO + numbers[first] + numbers[second - first] + _MANY_END
    differences = list(map(sub, positions, chain((0,), positions)))
    if count > _PICKLE_BATCH:
        return _pack_count(count) + dumps(differences, 2)
    return _pack_count(count) + _MANY + b"".join([numbers[n] for n in differences]) + _MANY_END


def _pickled_numbers(below: int) -> Sequence[bytes]:
    """Return a table of numbers, at least all below a bound, as they stand inside a pickle."""
    if below > len(_numbers):
        more = [_pickled_number(n) for n in range(len(_numbers), below)]
        if below > _TABLE_LIMIT:
            return _numbers + more
        _numbers.extend(more)
    return _numbers


def _pickled_number(number: int) -> bytes:
    if number < 0x100:
        return b"K" + number.to_bytes(1, "little")
    if number < 0x10000:
        return b"M" + number.to_bytes(2, "little")
    return b"J" + number.to_bytes(4, "little")


_PICKLE_BATCH = 1000
"""A pickle writes longer lists in parts."""
_TABLE_LIMIT = 1 << 17
_numbers: list[bytes] = []
_ONE = _pack_count(1) + b"\x80\x02]q\x00"
_ONE_END = b"a."
_MANY = b"\x80\x02]q\x00("
_TWO = _pack_count(2) + _MANY
_MANY_END = b"e."
