"""What engines on disk keep of a document, apart from its words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.values import Json, attributes_to_json, extras_to_json
from ultracrawl.index.words.analysis import replace_surrogates
from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

SCHEMA_VERSION = 4
"""Grows whenever an index holds something else of the same document than before: other fields, or other words.

An index of another version is searched as it is, and brought up to date before it is written to.
"""

STORED_TEXT_LIMIT = 100_000
"""Characters of a document's text that are kept for snippets; all of it is searchable."""

SORT_KEY_LIMIT = 100
"""Characters of a string that documents are sorted by."""

UPGRADE_NOTICE = "index %s is of another version: every document is indexed anew, without any request"
"""What is said once when an index of another schema version is rebuilt by itself."""

RESTRICTED = "restricted"
"""The term of a document that is not for everybody; no principal has one like it."""

_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")


def document_id(source: str, url: str) -> str:
    """Return the unique key of a document: neither a source name nor a URL holds a line feed."""
    return f"{replace_surrogates(source)}\n{replace_surrogates(url)}"


def safe_name(name: str) -> str:
    """Return an attribute's name fit for the name of a field or file."""
    return name if _PLAIN_NAME.match(name) else "0" + name.encode(errors="replace").hex()


def acl_terms(acl: Iterable[str]) -> list[str]:
    """Return the terms of a document with these readers; none if it is for everybody, as old ones are."""
    names = list(map(principal_term, dict.fromkeys(acl)))
    return [RESTRICTED, *names] if names else []


def principal_term(name: str) -> str:
    """Return the term of documents that this user or group may see; names are compared exactly."""
    return f"={replace_surrogates(name)}"


def known_values(
    document: IndexDocument, attributes: Mapping[str, SearchAttribute]
) -> dict[str, Sequence[AttributeValue]]:
    """Return the values of the attributes that are defined; the title is one."""
    known = {name: values for name, values in document.attributes.items() if name in attributes and values}
    if "Title" in attributes:
        known.setdefault("Title", [document.title])
    return known


def stored_values(known: Mapping[str, Sequence[AttributeValue]]) -> str:
    """Return values as JSON, for `attributes_from_json`."""
    return _as_text(attributes_to_json(known))


def stored_extras(document: IndexDocument) -> str:
    """Return parts, readers and depth of a document as JSON, for `with_extras`; empty if it has none of them."""
    further = extras_to_json(document)
    return _as_text(further) if further else ""


def _as_text(values: Json) -> str:
    return replace_surrogates(json.dumps(values, ensure_ascii=False, separators=(",", ":")))


def values_of_type(kind: AttributeType, values: Sequence[AttributeValue]) -> list[AttributeValue]:
    """Return the values that have the attribute's type; a value of another type cannot be searched by it."""
    listed = values if isinstance(values, list | tuple) else []
    if kind is AttributeType.STRING:
        return [replace_surrogates(str(value)) for value in listed]
    if kind is AttributeType.NUMBER:
        numbers = (value for value in listed if isinstance(value, int | float))
        return [float(value) + 0.0 for value in numbers if value - value == 0]  # -0 is 0
    return [as_utc(value) for value in listed if isinstance(value, datetime)]
