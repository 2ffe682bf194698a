"""Changes as JSON lines for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ultracrawl.index.changes import last_changes
from ultracrawl.index.engine import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.index.values import Json, attributes_to_json, extras_to_json


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
    document |= extras_to_json(change)
    return document | {"nosnippet": True} if change.secret_text else document
