"""Changes and attribute values as JSON, for the cache file, the worker and the stored fields of an index."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from ultracrawl.index.engine import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


def attributes_to_json(attributes: Mapping[str, Sequence[AttributeValue]]) -> dict[str, Json]:
    """Return the attributes as JSON values; a date is an object with the one key `date` (ISO 8601, UTC)."""
    return {name: [_value_to_json(value) for value in values] for name, values in attributes.items()}


def attributes_from_json(data: object) -> dict[str, list[AttributeValue]]:
    """Turn what `attributes_to_json` made back; raises ValueError for anything else."""
    if not isinstance(data, dict):
        raise ValueError("attributes are no object")
    return {
        str(name): [_value_from_json(value) for value in _a_list(values)] for name, values in data.items()
    }


def change_to_line(key: int, change: Change) -> bytes:
    """Return one change and the key of its record as a line of JSON, with its line end."""
    row: list[Json]
    if isinstance(change, Deletion):
        row = [key, change.source, change.url]
    elif isinstance(change, NewAnchors):
        row = [key, change.source, change.url, list(change.anchors)]
    else:
        attributes = attributes_to_json(change.attributes)
        row = [key, change.source, change.url, change.title, change.text, attributes]
        if change.secret_text or change.anchors:
            row.append(change.secret_text)
        if change.anchors:
            row.append(list(change.anchors))
    line = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return line.encode(errors="replace") + b"\n"


def change_from_line(line: bytes) -> tuple[int, Change]:
    """Turn a line of `change_to_line` back; raises ValueError for a torn or foreign line."""
    row = json.loads(line)
    match row:
        case [int(key), str(source), str(url)]:
            return key, Deletion(source, url)
        case [int(key), str(source), str(url), list(texts)]:
            return key, NewAnchors(source, url, tuple(map(str, texts)))
        case [int(key), str(source), str(url), str(title), str(text), attributes, *rest]:
            secret, anchors = _secret_and_anchors(rest)
            values = attributes_from_json(attributes)
            return key, IndexDocument(source, url, title, text, values, secret, anchors)
    raise ValueError("not a line of a document cache")


def packed(key: int, document: IndexDocument) -> bytes:
    """Return a document as the state store keeps it."""
    return zlib.compress(change_to_line(key, document), 1)


def unpacked(data: bytes) -> IndexDocument | None:
    """Return a document that was packed; None for anything else."""
    _, document = change_from_line(zlib.decompress(data))
    return document if isinstance(document, IndexDocument) else None


def _secret_and_anchors(rest: Sequence[object]) -> tuple[bool, tuple[str, ...]]:
    """Read the end of a document's line, which is left out where it says nothing."""
    match rest:
        case []:
            return False, ()
        case [bool(secret)]:
            return secret, ()
        case [bool(secret), [*anchors]]:
            return secret, tuple(map(str, anchors))
    raise ValueError("not the end of a document's line")


def _value_to_json(value: AttributeValue) -> Json:
    if isinstance(value, datetime):
        return {"date": as_utc(value).isoformat()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if not isinstance(value, str | int | float):
        raise TypeError(
            f"{value!r} is not an attribute value"
        )  # else the whole batch could not be read again
    return value


def _value_from_json(value: object) -> AttributeValue:
    match value:
        case str() | int() | float():
            return value
        case {"date": str(text)}:
            return datetime.fromisoformat(text)
    raise ValueError("not an attribute value")


def _a_list(values: object) -> list[object]:
    if not isinstance(values, list):
        raise ValueError("the values of an attribute are no list")
    return values
