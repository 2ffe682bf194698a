"""Documents as an index has kept them: from stored fields, and from postings what was not stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ultracrawl.index.analysis import is_pair, words
from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.keeping import STORED_TEXT_LIMIT
from ultracrawl.index.values import attributes_from_json
from ultracrawl.index.whoosh.damage import DAMAGE
from ultracrawl.index.whoosh.postings import decode_positions, read_postings
from ultracrawl.index.whoosh.segments import OpenSegment


def stored_document(segment: OpenSegment, docnum: int) -> IndexDocument:
    """Return a document from its stored fields; raises what damaged files raise."""
    stored = segment.reader.stored_fields(docnum)
    attributes = attributes_from_json(json.loads(stored["attributes"]))
    secret = not stored["text"] and segment.lengths("text")[docnum] > 0
    return IndexDocument(
        stored["source"], stored["url"], stored["title"], stored["text"], attributes, secret_text=secret
    )


def kept_documents(segments: Iterable[OpenSegment]) -> Iterator[IndexDocument]:
    """Yield the living documents of segments, which are closed afterwards.

    Text beyond what is stored, and text that may not be shown, is put together from the words of the index
    in their order. Documents that cannot be read are left out.
    """
    for segment in segments:
        try:
            yield from _documents(segment)
        finally:
            segment.reader.close()


def _documents(segment: OpenSegment) -> Iterator[IndexDocument]:
    incomplete: dict[int, IndexDocument] = {}
    for docnum in range(segment.documents):
        if docnum in segment.deleted:
            continue
        try:
            document = stored_document(segment, docnum)
        except DAMAGE:
            continue
        if document.secret_text or len(document.text) >= STORED_TEXT_LIMIT:
            incomplete[docnum] = document
        else:
            yield document
    if incomplete:
        yield from _completed(segment, incomplete)


def _completed(segment: OpenSegment, incomplete: dict[int, IndexDocument]) -> Iterator[IndexDocument]:
    texts: dict[int, dict[int, str]] = {docnum: {} for docnum in incomplete}
    try:
        for term, info in segment.terms("text"):
            postings = read_postings(segment.reader, info)
            for docnum, value in zip(postings.ids, postings.values or (), strict=True):
                if docnum in texts:
                    texts[docnum].update(dict.fromkeys(decode_positions(value), term.decode()))
    except DAMAGE:
        pass  # what was read so far is better than nothing
    for docnum, document in incomplete.items():
        found = [texts[docnum][position] for position in sorted(texts[docnum])]
        rest = _as_text(found[len(words(document.text)) :])
        yield IndexDocument(
            document.source, document.url, document.title, f"{document.text} {rest}".strip(),
            document.attributes, document.secret_text,
        )  # fmt: skip


def _as_text(found: list[str]) -> str:
    """Return words as text; pairs of characters give their run again."""
    pieces = [word[0] if is_pair(word) else word for word in found]
    blanks = ["" if is_pair(word) and len(word) == 2 else " " for word in found]
    return "".join(map("".join, zip(pieces, blanks, strict=True)))
