"""Changes and attribute values as JSON, for the document cache, the index process and the stored fields of an index."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ultracrawl.index.engine import Change, Deletion, IndexDocument, Json, NewAnchors
from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc
from ultracrawl.model.page import Section


def attributes_to_json(attributes: Mapping[str, Sequence[AttributeValue]]) -> dict[str, Json]:
    """Return the attributes as JSON values; a date is an object with the single key `date` (ISO 8601, UTC)."""
    data: dict[str, Json] = {}
    for name, values in attributes.items():
        row: list[Json] = []
        for value in values:
            row.append(value if type(value) is str else _value_to_json(value))
        data[name] = row
    return data


def attributes_from_json(data: object) -> dict[str, list[AttributeValue]]:
    """Parse the result of `attributes_to_json`; raises ValueError for anything else."""
    if not isinstance(data, dict):
        raise ValueError("attributes are no object")
    return {
        str(name): [_value_from_json(value) for value in _checked_list(values)]
        for name, values in data.items()
    }


def change_to_line(key: int, change: Change) -> bytes:
    """Return a change and the key of its record as a line of JSON, with the line end."""
    row: list[Json]
    if isinstance(change, Deletion):
        row = [key, change.source, change.url]
    elif isinstance(change, NewAnchors):
        row = [key, change.source, change.url]
        if change.depth is not None:
            row.append(change.depth)
        row.append(list(change.anchors))
        if change.section_anchors or change.acl is not None:
            row.append(_rows(change.section_anchors))
        if change.acl is not None:
            row.append([list(change.acl)])
    else:
        attributes = attributes_to_json(change.attributes)
        row = [key, change.source, change.url, change.title, change.text, attributes]
        extras = extras_to_json(change)
        if change.secret_text or change.anchors or extras:
            row.append(change.secret_text)
        if change.anchors or extras:
            row.append(list(change.anchors))
        if extras:
            row.append(extras)
    return _encoded(row) + b"\n"


def change_from_line(line: bytes) -> tuple[int, Change]:
    """Parse a line of `change_to_line`; raises ValueError for a truncated or foreign line."""
    row = json.loads(line)
    match row:
        case [int(key), str(source), str(url)]:
            return key, Deletion(source, url)
        case [int(key), str(source), str(url), list(texts), *parts] if len(parts) < 3:
            return key, _new_anchors(source, url, texts, parts, None)
        case [int(key), str(source), str(url), int(depth), list(texts), *parts]:
            return key, _new_anchors(source, url, texts, parts, depth)
        case [int(key), str(source), str(url), str(title), str(text), attributes, *rest]:
            secret, anchors, extras = _parse_document_tail(rest)
            values = attributes_from_json(attributes)
            document = IndexDocument(source, url, title, text, values, secret, anchors)
            return key, with_extras(document, extras) if extras else document
    raise ValueError("not a line of a document cache")


def _new_anchors(
    source: str, url: str, texts: list[object], parts: list[object], depth: int | None
) -> NewAnchors:
    acl = tuple(map(str, _checked_list(_checked_list(parts[1])[0]))) if len(parts) > 1 else None
    return NewAnchors(source, url, tuple(map(str, texts)), _anchors_of_parts(parts), depth, acl)


def _anchors_of_parts(rows: list[object]) -> tuple[tuple[str, str], ...]:
    return _section_anchors(_checked_list(rows[0])) if rows else ()


def _encoded(row: list[Json]) -> bytes:
    """Return a row as JSON, eight times as fast as `json.dumps`, which is used for texts with surrogates."""
    from pydantic_core import PydanticSerializationError, to_json  # noqa: PLC0415 - slow, and readers do not need it

    try:
        return to_json(row)
    except PydanticSerializationError:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return line.encode(errors="replace")


def pack_document(key: int, document: IndexDocument) -> bytes:
    """Return a document in the compressed form of the state store."""
    return zlib.compress(change_to_line(key, document), 1)


def unpack_document(data: bytes) -> IndexDocument | None:
    """Return the document of `pack_document`; None for any other change."""
    _, document = change_from_line(zlib.decompress(data))
    return document if isinstance(document, IndexDocument) else None


def extras_to_json(document: IndexDocument) -> dict[str, Json]:
    """Return the optional fields as JSON: ACL, sections, their anchor texts, depth; empty if the document has none."""
    extras: dict[str, Json] = {}
    if document.acl:
        extras["acl"] = list(document.acl)
    if document.sections:
        extras["sections"] = [
            [part.offset, part.level, part.anchor, part.title] for part in document.sections
        ]
    if document.section_anchors:
        extras["section_anchors"] = _rows(document.section_anchors)
    if document.depth:
        extras["depth"] = document.depth
    return extras


def with_extras(document: IndexDocument, extras: Mapping[str, object]) -> IndexDocument:
    """Return the document with the fields of `extras_to_json`; raises ValueError for anything else."""
    depth = extras.get("depth", 0)
    return replace(
        document,
        acl=tuple(map(str, _checked_list(extras.get("acl", [])))),
        sections=_sections(_checked_list(extras.get("sections", []))),
        section_anchors=_section_anchors(_checked_list(extras.get("section_anchors", []))),
        depth=depth if isinstance(depth, int) else 0,
    )


def _rows(rows: Iterable[Sequence[str]]) -> list[Json]:
    return [list(row) for row in rows]


def _sections(rows: list[object]) -> tuple[Section, ...]:
    """Return the sections of JSON rows; documents may have thousands."""
    try:
        sections = tuple([Section(*row) for row in rows])  # type: ignore[misc]  # checked below
        types = {tuple(map(type, row)) for row in rows}  # type: ignore[call-overload]
    except TypeError as error:
        raise ValueError(f"these are no sections: {error}") from None
    if not types <= {(int, int, str, str)}:
        raise ValueError("the values of sections have other types")
    return sections


def _section_anchors(rows: list[object]) -> tuple[tuple[str, str], ...]:
    return tuple((str(fragment), str(text)) for fragment, text in map(_checked_list, rows))


def _parse_document_tail(rest: Sequence[object]) -> tuple[bool, tuple[str, ...], Mapping[str, object]]:
    """Parse the optional end of a document's line: hidden text, anchors, extras."""
    match rest:
        case []:
            return False, (), {}
        case [bool(secret)]:
            return secret, (), {}
        case [bool(secret), [*anchors]]:
            return secret, tuple(map(str, anchors)), {}
        case [bool(secret), [*anchors], dict(extras)]:
            return secret, tuple(map(str, anchors)), extras
    raise ValueError("not the end of a document's line")


def _value_to_json(value: AttributeValue) -> Json:
    if isinstance(value, datetime):
        return {"date": as_utc(value).isoformat()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if not isinstance(value, str | int | float):
        # raised here, because the cache file could not be read back
        raise TypeError(f"{value!r} is not an attribute value")
    return value


def _value_from_json(value: object) -> AttributeValue:
    match value:
        case str() | int() | float():
            return value
        case {"date": str(text)}:
            return datetime.fromisoformat(text)
    raise ValueError("not an attribute value")


def _checked_list(values: object) -> list[object]:
    if not isinstance(values, list):
        raise ValueError(f"{values!r} is no list")
    return values
