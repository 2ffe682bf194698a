"""The `jsonl` destination: documents in a file with one JSON object a line."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ultracrawl.errors import WorkError
from ultracrawl.index.changes import last_changes
from ultracrawl.index.destinations.destination import Batch, Destination
from ultracrawl.index.engine import Change, Deletion, IndexDocument, Json, NewAnchors
from ultracrawl.index.values import attributes_to_json, extras_to_json
from ultracrawl.rules.access.readers import named_readers
from ultracrawl.system.files import cause_and_remedy, end_of_last_line, sync_to_disk, write_all


class JsonLines(Destination):
    """Appends to a file, and syncs it before it confirms.

    A truncated last line, left by a crash, is removed before the next one is written. If the file was moved away, a new
    one is created.
    """

    def __init__(self, name: str, options: Mapping[str, Json]) -> None:
        self._path = Path(str(options["path"]))

    def deliver(self, batch: Batch) -> int:
        """Append all lines of a batch, or none."""
        data = b"".join(change_lines(batch.changes))
        try:
            self._append(data)
        except OSError as error:
            raise WorkError(f"{self._path} cannot be written: {cause_and_remedy(error)}") from error
        return sum(isinstance(change, IndexDocument) for change in batch.changes)

    def _append(self, data: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self._path.exists()
        with self._path.open("ab+", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # other sources may write to the same file
            size = file.seek(0, os.SEEK_END)
            end = end_of_last_line(file, size)
            if end < size:
                file.truncate(end)
            try:
                write_all(file, data)
                os.fsync(file.fileno())
            except OSError:
                file.truncate(end)
                raise
        if is_new:
            sync_to_disk(self._path.parent)


def change_lines(changes: Iterable[Change]) -> Iterator[bytes]:
    """Yield the effective change of each document as a line of JSON, with the line end."""
    for change in last_changes(changes).values():
        line = json.dumps(_as_json(change), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        yield line.encode(errors="replace") + b"\n"


def _as_json(change: Change) -> dict[str, Json]:
    identity: dict[str, Json] = {"source": change.source, "url": change.url}
    match change:
        case Deletion():
            return {"action": "delete", **identity}
        case NewAnchors(anchors=anchors):
            parts, depth = change.section_anchors, change.depth or 0
            further = extras_to_json(IndexDocument("", "", "", "", section_anchors=parts, depth=depth))
            return {"action": "anchors", **identity, "anchors": list(anchors), **further}
    document: dict[str, Json] = {"action": "put", **identity, "title": change.title, "text": change.text}
    document |= {"attributes": dict(attributes_to_json(change.attributes)), "anchors": list(change.anchors)}
    document |= extras_to_json(replace(change, acl=tuple(named_readers(change.acl))))
    return document | {"nosnippet": True} if change.secret_text else document
