"""Splits changes into batches of one commit, and merges several changes of one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ultracrawl.index.engine import Change, Deletion, IndexDocument, NewAnchors

TEXT_PER_COMMIT = 8_000_000
"""Characters of text in one commit; their postings take about 6 bytes for each."""
CHANGES_PER_COMMIT = 2_000
"""Changes in one commit, whatever the size of their texts."""
STORED_DOCUMENT_TEXT = 20_000
"""Characters counted for a document with new anchor texts; its own text is in the index."""


def last_changes(changes: Iterable[Change]) -> dict[tuple[str, str], Change]:
    """Return the effective change of each document, by (source, display URL).

    It is the last one; anchor texts that follow a document in the batch are merged into it. New readers outlast later
    anchor texts.
    """
    last: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = change.source, change.url
        before = last.get(key)
        if isinstance(change, NewAnchors) and isinstance(before, IndexDocument):
            last[key] = with_anchors(before, change)
        elif isinstance(change, NewAnchors) and isinstance(before, NewAnchors) and change.acl is None:
            last[key] = replace(change, acl=before.acl)
        elif not (isinstance(change, NewAnchors) and isinstance(before, Deletion)):
            last[key] = change
    return last


def with_anchors(document: IndexDocument, new: NewAnchors) -> IndexDocument:
    """Return the document with its new anchor texts, and with new depth and readers if there are some."""
    depth = document.depth if new.depth is None else new.depth
    acl = document.acl if new.acl is None else new.acl
    return replace(document, anchors=new.anchors, section_anchors=new.section_anchors, depth=depth, acl=acl)


def batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """Yield the changes in order as lists that are small enough for one commit."""
    batch: list[Change] = []
    size = 0
    for change in changes:
        batch.append(change)
        size += _text_size(change)
        if size >= TEXT_PER_COMMIT or len(batch) >= CHANGES_PER_COMMIT:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _text_size(change: Change) -> int:
    """Return the characters of text that a change adds to a commit; an estimate for documents in the index."""
    match change:
        case IndexDocument(text=text):
            return len(text)
        case NewAnchors():
            return STORED_DOCUMENT_TEXT
    return 0
