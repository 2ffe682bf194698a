"""Entries as texts: on the way from the listing to the visit, and beside the answer of a visit."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

from ultracrawl.agents.port import Entry

_NOTHING_SAID = tuple((one.name, getattr(Entry(""), one.name)) for one in fields(Entry))


_encoded = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode


def entry_text(entry: Entry, *left_out: str) -> str:
    """Return an entry without its body, and without some other fields, as one line of ASCII."""
    told = _said(entry)
    for name in ("body", *left_out):
        told.pop(name, None)
    if entry.attributes:
        told["attributes"] = {name: list(values) for name, values in entry.attributes.items()}
    return _encoded(told)


def read_entry(text: str | bytes) -> Entry:
    """Return the entry of a text."""
    told = json.loads(text)
    attributes = told.pop("attributes", {})
    told["acl"] = tuple(told.get("acl", ()))
    return Entry(
        told.pop("access_url", ""),
        attributes={name: tuple(values) for name, values in attributes.items()},
        **told,
    )


def completed(listed: Entry, fetched: Entry) -> Entry:
    """Return what was listed with what the fetcher says besides."""
    return replace(listed, **_said(fetched))


def _said(entry: Entry) -> dict[str, Any]:
    return {name: said for name, nothing in _NOTHING_SAID if (said := getattr(entry, name)) != nothing}


def content_of(entry: Entry) -> str:
    """Return what an entry says of its document, without when that changed: it makes another document, or the same."""
    return entry_text(entry, "validators", "last_modified")


def pack_entry(entry: Entry) -> bytes:
    """Return an entry with its body, as it is stored."""
    text = entry_text(entry).encode()
    return text if entry.body is None else b"\n".join((text, entry.body))


def unpack_entry(data: bytes) -> Entry:
    """Return the entry that was stored."""
    text, line, body = data.partition(b"\n")
    entry = read_entry(text)
    return replace(entry, body=body) if line else entry
