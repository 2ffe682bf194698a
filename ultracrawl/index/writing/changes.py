"""What a batch of changes comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ultracrawl.index.engine import Change, Deletion, IndexDocument, NewAnchors


def last_changes(changes: Iterable[Change]) -> dict[tuple[str, str], Change]:
    """Return the change that counts for each document, by source and display URL.

    It is the last one; anchor texts that follow a document in the same batch become part of it.
    """
    last: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = change.source, change.url
        before = last.get(key)
        if isinstance(change, NewAnchors) and isinstance(before, IndexDocument):
            last[key] = replace(before, anchors=change.anchors)
        elif not (isinstance(change, NewAnchors) and isinstance(before, Deletion)):
            last[key] = change
    return last
