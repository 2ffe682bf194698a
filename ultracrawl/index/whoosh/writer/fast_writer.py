"""Writes ordinary Whoosh segments about three times as fast as Whoosh's own writer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import cast

from whoosh.codec.whoosh3 import W3Segment
from whoosh.fields import ID, KEYWORD, FieldType, Schema
from whoosh.formats import Positions
from whoosh.index import TOC, FileIndex, clean_files
from whoosh.reading import SegmentReader
from whoosh.util.numeric import length_to_byte
from whoosh.writing import SegmentWriter

from ultracrawl.index.whoosh.fields import Passages, word_analyzer
from ultracrawl.index.whoosh.mapped_reader import MappedReader
from ultracrawl.index.whoosh.writer.merging import (
    TermStream,
    copy_documents,
    living_documents,
    living_lengths,
    merged_terms,
    segment_terms,
)
from ultracrawl.index.whoosh.writer.term_file import FastCodec, FastFieldWriter, FieldLengths
from ultracrawl.index.whoosh.writer.term_pool import Posting, TermPool
from ultracrawl.index.words.vocabulary import new_pool
from ultracrawl.system.checksums import add_checksum, is_as_written
from ultracrawl.system.compiled_core import CorePostings, Words
from ultracrawl.system.files import sync_to_disk

Indexer = Callable[[int, object], int]
"""Adds a field value of a document to the pool and returns the field length."""


class FastWriter(SegmentWriter):  # type: ignore[misc]  # Whoosh has no types
    """A `SegmentWriter` that does not lock: the caller holds the write lock of the index.

    Stored fields, vectors, spelling fields and document boosts are not supported; the schema has none. All postings are
    in memory until the batch is written; the caller keeps it small. It ends with `commit`, or with `abort`, which
    leaves the index unchanged whatever the state of the writer.
    """

    def __init__(self, index: FileIndex) -> None:
        super().__init__(index, _lk=False, codec=FastCodec())
        self._directory = Path(self.storage.folder)
        core_pool = new_pool()
        self._terms = TermPool() if core_pool is None else CorePool(core_pool)
        self._lengths: defaultdict[str, FieldLengths] = defaultdict(bytearray)
        self._indexers: dict[str, Indexer] = {}
        self._copied: list[TermStream] = []
        self._merged: list[W3Segment] = []

    def add_document(self, **fields: object) -> None:
        """Add a document, with the arguments of Whoosh's method of this name."""
        documents = self.perdocwriter
        docnum = self.docnum
        documents.start_doc(docnum)
        for name in sorted(name for name in fields if name[0] != "_"):
            value = fields[name]
            field = self.schema[name]
            length = self._indexer(name, field)(docnum, value) if field.indexed else 0
            if length:
                self._length_list(name, docnum).append(length_to_byte(length))
            documents.add_field(name, field, None, length)
            if field.column_type:
                shown = fields.get(f"_stored_{name}", value)
                documents.add_column_value(name, field.column_type, field.to_column_value(shown))
        documents.finish_doc()
        self._added = True
        self.docnum += 1

    def commit_merged(self, segments: Sequence[W3Segment]) -> None:
        """Merge the segments: copy their living documents into the new one, which replaces them.

        Raises `EOFError` if one is not as it was written: what is wrong would get a checksum that is right.
        """
        for segment in segments:
            if not is_as_written(self._directory / segment.make_filename(".seg")):
                raise EOFError(f"segment {segment.segment_id()} is not as it was written")
        with ExitStack() as opened:
            self._copy(
                [
                    opened.enter_context(closing(MappedReader(self.storage, self.schema, segment)))
                    for segment in segments
                ]
            )
            self._merged += segments
            self.commit()

    def _copy(self, readers: Sequence[SegmentReader]) -> None:
        self.fieldwriter.compress = True
        for reader in readers:
            living = living_documents(reader)
            copy_documents(reader, self.schema, self.perdocwriter, self.docnum, living)
            for name in reader.segment()._fieldlengths:
                self._length_list(name, self.docnum).extend(living_lengths(reader, name, living))
            self._copied.append(segment_terms(reader, self.schema, self.docnum, living))
            self.docnum += len(living)
            self._added = self._added or bool(living)

    def commit(self) -> None:
        """Write the segment to disk, then make it part of the index in one step (by renaming the TOC)."""
        merged = set(self._merged)
        kept = [segment for segment in self.segments if segment not in merged and segment.doc_count()]
        if self._added:
            kept.append(self._finalize_segment())
            path = self._directory / self.newsegment.make_filename(".seg")
            add_checksum(path)
            sync_to_disk(path)
        else:
            self._close_segment()
        self._write_toc(kept)
        self._finish()

    def abort(self) -> None:
        """Drop the batch and remove its files, even on a full disk."""
        for cleanup in (self._close_segment, self._tempstorage.destroy):
            with suppress(OSError, ValueError, AttributeError):
                cleanup()
        start = f"{self.newsegment.segment_id()}."
        _remove(path for path in self._directory.iterdir() if path.name.startswith(start))
        self._remove_temporary_tocs()
        self.is_closed = True

    def _flush_segment(self) -> None:
        """Write the postings; Whoosh calls this after the last document."""
        self.perdocwriter.close()
        if self._copied:
            self.fieldwriter.add_terms(self.schema, merged_terms(self._copied), self._lengths)
        else:
            self._terms.write(self.fieldwriter, self.schema, self._lengths)
        self.fieldwriter.close()

    def _write_toc(self, segments: list[W3Segment]) -> None:
        self._remove_temporary_tocs()
        toc = TOC(self.schema, segments, self.generation)
        toc.write(self.storage, self.indexname)
        sync_to_disk(self._directory / TOC._filename(self.indexname, self.generation))
        sync_to_disk(self._directory)
        clean_files(self.storage, self.indexname, self.generation, segments)

    def _remove_temporary_tocs(self) -> None:
        """Remove temporary TOC files of killed processes; Whoosh itself does not."""
        _remove(self._directory.glob(f"_{self.indexname}_*.toc.*"))

    def _length_list(self, name: str, docnum: int) -> FieldLengths:
        """Return the lengths of a field, padded up to this document."""
        lengths = self._lengths[name]
        if len(lengths) < docnum:
            lengths.extend(bytes(docnum - len(lengths)))
        return lengths

    def _indexer(self, name: str, field: FieldType) -> Indexer:
        indexer = self._indexers.get(name)
        if indexer is None:
            indexer = self._indexers[name] = _indexer(self._terms, name, field)
        return indexer


def _indexer(pool: TermPool | CorePool, name: str, field: FieldType) -> Indexer:
    """Return the fastest way to index values of this field with the same result as the field itself."""

    def any_field(docnum: int, value: object) -> int:
        length = pool.add_postings(name, docnum, field.index(value))
        return length if field.scorable else 0

    def words_of(value: object) -> Words:
        if isinstance(value, str):
            return [token.text for token in field.analyzer(value, mode="index")]
        return cast(Words, value)

    def plain_text(docnum: int, value: object) -> int:
        return pool.add_texts(name, docnum, value if isinstance(value, Passages) else (words_of(value),))

    def counted(docnum: int, value: object) -> int:
        pool.add_counted(name, docnum, words_of(value))
        return 0

    def whole_value(docnum: int, value: object) -> int:
        if isinstance(value, str):
            pool.add_values(name, docnum, (value,))
        elif isinstance(value, list):
            pool.add_values(name, docnum, value)
        return 0

    if type(field) is ID:
        return whole_value
    if type(field) is KEYWORD and not field.scorable:
        return counted
    if type(field.format) is Positions and field.scorable and field.analyzer == word_analyzer():
        return plain_text
    return any_field


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


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
