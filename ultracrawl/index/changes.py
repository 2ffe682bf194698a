"""Batches of changes: how many make one commit, and which one counts if several are about one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ultracrawl.index.engine import Change, Deletion, IndexDocument, NewAnchors

TEXT_PER_COMMIT = 8_000_000
"""Characters of text in one commit; the postings made of it take about 6 bytes for each."""
CHANGES_PER_COMMIT = 2_000
"""Changes in one commit, whatever their texts."""
TEXT_OF_A_KEPT_DOCUMENT = 20_000
"""Characters that a document with new anchor texts counts as; its own text is in the index."""


def last_changes(changes: Iterable[Change]) -> dict[tuple[str, str], Change]:
    """Return the change that counts for each document, by source and display URL.

    It is the last one; anchor texts that follow a document in the same batch become part of it.
    """
    last: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = change.source, change.url
        before = last.get(key)
        if isinstance(change, NewAnchors) and isinstance(before, IndexDocument):
            last[key] = with_anchors(before, change)
        elif not (isinstance(change, NewAnchors) and isinstance(before, Deletion)):
            last[key] = change
    return last


def with_anchors(document: IndexDocument, new: NewAnchors) -> IndexDocument:
    """Return the document with its new anchor texts."""
    return replace(document, anchors=new.anchors, section_anchors=new.section_anchors)


def batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """Yield the changes in their order in lists that are small enough for one commit."""
    batch: list[Change] = []
    size = 0
    for change in changes:
        batch.append(change)
        size += _text_of(change)
        if size >= TEXT_PER_COMMIT or len(batch) >= CHANGES_PER_COMMIT:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _text_of(change: Change) -> int:
    """Return how many characters of text a change brings into a commit; of a document that is in the index a guess."""
    match change:
        case IndexDocument(text=text):
            return len(text)
        case NewAnchors():
            return TEXT_OF_A_KEPT_DOCUMENT
    return 0
