"""Reads documents from stored fields, and from postings where the text is not stored."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from whoosh.columns import CompressedBytesColumn, VarBytesColumn

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.values import attributes_from_json, unpack_document, with_extras
from ultracrawl.index.whoosh.fields import STORED_DOCUMENT, UNSTORED_TEXT
from ultracrawl.index.whoosh.pickles import load_plain
from ultracrawl.index.whoosh.postings import DAMAGE, decode_positions, read_postings
from ultracrawl.index.whoosh.segments import OpenSegment
from ultracrawl.index.words.analysis import is_bigram, words


def stored_document(segment: OpenSegment, docnum: int) -> IndexDocument:
    """Return a document from its stored fields; raises the errors of damaged files (`DAMAGE`).

    A long text is returned up to the stored part.
    """
    column = segment.column(STORED_DOCUMENT, VarBytesColumn())
    if column is None:
        return _formerly_stored(segment, docnum)
    document = unpack_document(cast(bytes, column[docnum]))
    if document is None:
        raise ValueError("a document of the index cannot be read")
    return document


def _formerly_stored(segment: OpenSegment, docnum: int) -> IndexDocument:
    """Return a document of an index before version 6, whose stored fields are pickles."""
    column = segment.column("_stored", CompressedBytesColumn())
    stored = load_plain(cast(bytes, column[docnum])) if column is not None else {}
    attributes = attributes_from_json(json.loads(stored["attributes"]))
    secret = not stored["text"] and segment.lengths("text")[docnum] > 0
    anchors = tuple(stored.get("anchors", ()))
    document = IndexDocument(
        stored["source"], stored["url"], stored["title"], stored["text"], attributes, secret, anchors
    )
    further = stored.get("further", "")
    return with_extras(document, json.loads(further)) if further else document


def documents_of(segment: OpenSegment, docnums: Iterable[int]) -> Iterator[IndexDocument]:
    """Yield documents of a segment as far as they are stored; unreadable ones are skipped.

    Segments of older versions do not store the rest of long texts, and hidden texts: these are reconstructed from the
    positions of terms.
    """
    incomplete: dict[int, IndexDocument] = {}
    for docnum in docnums:
        try:
            document = stored_document(segment, docnum)
            rest = unstored_text(segment, docnum)
        except DAMAGE:
            continue
        if rest:
            yield replace(document, text=document.text + rest)
        elif document.secret_text or len(document.text) >= STORED_TEXT_LIMIT:
            incomplete[docnum] = document
        else:
            yield document
    if incomplete:
        yield from _with_reconstructed_texts(segment, incomplete)


def unstored_text(segment: OpenSegment, docnum: int) -> str:
    """Return the text of a document beyond the stored part."""
    column = segment.column(UNSTORED_TEXT, VarBytesColumn())
    data = column[docnum] if column is not None else b""
    return zlib.decompress(data).decode() if isinstance(data, bytes) and data else ""


def stored_documents(segments: Sequence[OpenSegment]) -> Iterator[IndexDocument]:
    """Yield the living documents of segments, which are closed afterwards; see `documents_of`."""
    try:
        for segment in segments:
            yield from documents_of(segment, set(range(segment.documents)) - segment.deleted)
    finally:
        for segment in segments:
            segment.reader.close()


def _with_reconstructed_texts(
    segment: OpenSegment, incomplete: dict[int, IndexDocument]
) -> Iterator[IndexDocument]:
    texts: dict[int, dict[int, str]] = {docnum: {} for docnum in incomplete}
    try:
        for term, info in segment.terms("text"):
            postings = read_postings(segment.reader, info)
            for docnum, value in zip(postings.ids, postings.values or (), strict=True):
                if docnum in texts:
                    texts[docnum].update(dict.fromkeys(decode_positions(value), term.decode()))
    except DAMAGE:
        pass  # a partial text is better than none
    for docnum, document in incomplete.items():
        found = [texts[docnum][position] for position in sorted(texts[docnum])]
        rest = _as_text(found[len(words(document.text)) :])
        yield replace(document, text=f"{document.text} {rest}".strip())


def _as_text(found: list[str]) -> str:
    """Return words as text; bigrams are joined to their run."""
    pieces = [word[0] if is_bigram(word) else word for word in found]
    blanks = ["" if is_bigram(word) and len(word) == 2 else " " for word in found]
    return "".join(map("".join, zip(pieces, blanks, strict=True)))
