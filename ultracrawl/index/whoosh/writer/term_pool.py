"""Collects the postings of a new segment in a dictionary of terms, which needs no sorted list of postings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import sub
from pickle import dumps
from struct import Struct

from whoosh.fields import Schema

from ultracrawl.index.whoosh.writer.term_file import FastFieldWriter, FieldLengths, PostingList
from ultracrawl.index.words.analysis import WordCache
from ultracrawl.system.compiled_core import Words

Posting = tuple[bytes, int, float, bytes]
"""Term, frequency, weight and encoded positions, as Whoosh's fields return them."""

_pack_count = Struct("!I").pack


class TermPool:
    """Collects postings by field and term."""

    def __init__(self) -> None:
        self._fields: defaultdict[str, defaultdict[str | bytes, PostingList]] = defaultdict(
            lambda: defaultdict(list)
        )

    def add_texts(self, fieldname: str, docnum: int, texts: Sequence[Words]) -> int:
        """Add the words of texts, with a gap between the positions of two texts, and return their number."""
        positions_by_word: defaultdict[str, list[int]] = defaultdict(list)
        start = 0
        for words in texts:
            for position, word in enumerate(words, start):
                positions_by_word[word].append(position)
            start += len(words) + 1
        terms = self._fields[fieldname]
        for word, positions in positions_by_word.items():
            count = len(positions)
            if count == 1:
                terms[word] += (docnum, 1.0, _ONE_POSITION[positions[0]])
            else:
                terms[word] += (docnum, _WEIGHTS[count], encode_positions(positions))
        return start - len(texts)

    def add_counted(self, fieldname: str, docnum: int, found: Iterable[str]) -> None:
        """Add words with their frequencies only."""
        terms = self._fields[fieldname]
        for word, count in Counter(found).items():
            terms[word] += (docnum, _WEIGHTS[count], _COUNTS[count])

    def add_values(self, fieldname: str, docnum: int, values: Iterable[str]) -> None:
        """Add whole values as terms without frequencies."""
        terms = self._fields[fieldname]
        for value in set(values):
            terms[value] += (docnum, 1.0, b"")

    def add_postings(self, fieldname: str, docnum: int, postings: Iterable[Posting]) -> int:
        """Add the postings that a field of any type made of its value, and return the field length."""
        terms = self._fields[fieldname]
        length = 0
        for term, frequency, weight, value in postings:
            terms[term] += (docnum, weight, value)
            length += frequency
        return length

    def write(self, target: FastFieldWriter, schema: Schema, lengths: Mapping[str, FieldLengths]) -> None:
        """Write all terms and postings, and empty the pool."""
        target.add_terms(schema, self._sorted_terms(), lengths)

    def _sorted_terms(self) -> Iterator[tuple[str, bytes, PostingList]]:
        """Yield field name, term and postings in the order of the term file, and empty the pool."""
        for fieldname in sorted(self._fields):
            terms = self._fields.pop(fieldname)
            for term in sorted(terms):
                yield fieldname, term if isinstance(term, bytes) else term.encode(), terms.pop(term)


def encode_positions(positions: list[int]) -> bytes:
    """Return positions in the format of Whoosh's `Positions`: their count, then the pickled differences."""
    first, count = positions[0], len(positions)
    if count == 1:
        return _ONE_POSITION[first]
    return _COUNTS[count] + dumps([first, *map(sub, positions[1:], positions)], 2)


_WEIGHTS = WordCache[int, float](float)
_COUNTS = WordCache[int, bytes](_pack_count)
_ONE_POSITION = WordCache[int, bytes](lambda place: _COUNTS[1] + dumps([place], 2))
"""Encoded single positions, as most words have: one object for all of them."""
