"""Serialised entries: as text beside queue entries and responses, as bytes with the body for the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from ultracrawl.agents.port import Entry

_DEFAULTS = tuple((field.name, getattr(Entry(""), field.name)) for field in fields(Entry))


_encoded = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


def entry_text(entry: Entry, *excluded: str) -> str:
    """Return an entry as one line of ASCII JSON, without its body and the excluded fields."""
    values = _set_fields(entry)
    for name in ("body", *excluded):
        values.pop(name, None)
    if entry.attributes:
        values["attributes"] = {name: list(texts) for name, texts in entry.attributes.items()}
    return _encoded(values)


def parse_entry(text: str | bytes) -> Entry:
    """Return the entry that `entry_text` has serialised."""
    values = json.loads(text)
    attributes = values.pop("attributes", {})
    values["acl"] = tuple(values.get("acl", ()))
    return Entry(
        values.pop("access_url", ""),
        attributes={name: tuple(texts) for name, texts in attributes.items()},
        **values,
    )


def merge_entries(listed: Entry, fetched: Entry) -> Entry:
    """Return the listed entry with every field that the fetched one sets."""
    return replace(listed, **_set_fields(fetched))


def _set_fields(entry: Entry) -> dict[str, Any]:
    return {name: value for name, default in _DEFAULTS if (value := getattr(entry, name)) != default}


def content_key(entry: Entry) -> str:
    """Return a text that is equal for entries that make the same document: without change markers and key."""
    return entry_text(entry, "validators", "last_modified", "key")


def stated_metadata(entry: Entry, is_searchable: Callable[[str], bool]) -> str:
    """Return a text that is equal for entries with the same title, language and searchable attributes.

    Readers are not part of it. `is_searchable` decides by the name of an attribute, in lower case. The text is empty
    for an entry without any of these.
    """
    attributes = {name.lower(): values for name, values in entry.attributes.items()}
    if entry.owner:
        attributes["owner"] = (entry.owner,)
    searchable = {name: values for name, values in attributes.items() if values and is_searchable(name)}
    stated = [entry.title, entry.language, searchable]
    return _encoded(stated) if any(stated) else ""


def pack_entry(entry: Entry) -> bytes:
    """Return an entry with its body in the stored form: the JSON line, then a newline and the body if it has one."""
    text = entry_text(entry).encode()
    return text if entry.body is None else b"\n".join((text, entry.body))


def unpack_entry(data: bytes) -> Entry:
    """Return the entry that `pack_entry` has packed."""
    text, newline, body = data.partition(b"\n")
    entry = parse_entry(text)
    return replace(entry, body=body) if newline else entry
