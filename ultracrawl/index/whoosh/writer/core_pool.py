"""Collects the postings of a new segment in the compiled core, with the methods of `TermPool`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from whoosh.fields import Schema

from ultracrawl.index.whoosh.writer.term_file import FastFieldWriter, FieldLengths
from ultracrawl.index.whoosh.writer.term_pool import Posting
from ultracrawl.system.compiled_core import CorePostings, Words


class CorePool:
    """The pool of the core; it writes terms and postings by itself."""

    def __init__(self, pool: CorePostings) -> None:
        self._pool = pool

    def add_texts(self, fieldname: str, docnum: int, texts: Sequence[Words]) -> int:
        """See `TermPool.add_texts`."""
        return self._pool.add_texts(fieldname, docnum, texts)

    def add_counted(self, fieldname: str, docnum: int, found: Words) -> None:
        """See `TermPool.add_counted`."""
        self._pool.add_counted(fieldname, docnum, found)

    def add_values(self, fieldname: str, docnum: int, values: Iterable[str]) -> None:
        """See `TermPool.add_values`."""
        self._pool.add_values(fieldname, docnum, [value.encode() for value in values])

    def add_postings(self, fieldname: str, docnum: int, postings: Iterable[Posting]) -> int:
        """See `TermPool.add_postings`; only values without frequencies, as numbers and dates are."""
        found = list(postings)
        assert all(weight == 1 and not value for _, _, weight, value in found)
        self._pool.add_values(fieldname, docnum, [term for term, *_ in found])
        return len(found)

    def write(self, target: FastFieldWriter, schema: Schema, lengths: Mapping[str, FieldLengths]) -> None:
        """See `TermPool.write`."""
        target.add_pool(self._pool, lengths)
