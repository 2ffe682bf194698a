"""Document keys, ACL terms and stored values that all engines share, and their limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.words.analysis import replace_surrogates
from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

SCHEMA_VERSION = 6
"""Version of the fields and terms of a document; increase it whenever they change.

An index of another version is searched as it is, and rebuilt before it is written to.
"""

STORED_TEXT_LIMIT = 100_000
"""Characters of a document's text that are stored for snippets; all of it is searchable."""

SORT_KEY_LIMIT = 100
"""Characters of a string that are used as a sort key."""

UPGRADE_NOTICE = "index %s has another schema version: every document is indexed again, without any request"
"""Message when an index of another schema version is rebuilt."""

RESTRICTED = "restricted"
"""The ACL term of all documents that are not public; no principal's term is equal to it."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_SAFE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")


def document_id(source: str, url: str) -> str:
    """Return the unique key of a document; neither source names nor URLs contain a line feed."""
    return f"{replace_surrogates(source)}\n{replace_surrogates(url)}"


def safe_name(name: str) -> str:
    """Return an attribute's name in a form that is valid for fields and files."""
    return name if _SAFE_NAME.match(name) else "0" + name.encode(errors="replace").hex()


def acl_terms(acl: Iterable[str]) -> list[str]:
    """Return the ACL terms of a document with these principals; none if it is public."""
    names = list(map(principal_term, dict.fromkeys(acl)))
    return [RESTRICTED, *names] if names else []


def principal_term(name: str) -> str:
    """Return the ACL term of a user or group; names are compared exactly."""
    return f"={replace_surrogates(name)}"


def known_values(
    document: IndexDocument, attributes: Mapping[str, SearchAttribute]
) -> dict[str, Sequence[AttributeValue]]:
    """Return the values of the defined attributes; the title is one of them."""
    known = {name: values for name, values in document.attributes.items() if name in attributes and values}
    if "Title" in attributes:
        known.setdefault("Title", [document.title])
    return known


def microseconds(moment: datetime) -> int:
    """Return a time in microseconds since 1970; the dates of the engines themselves are less precise."""
    return (moment - EPOCH) // MICROSECOND


def values_of_type(kind: AttributeType, values: Sequence[AttributeValue]) -> list[AttributeValue]:
    """Return the values that have the attribute's type; others are not searchable."""
    listed = values if isinstance(values, list | tuple) else []
    if kind is AttributeType.STRING:
        return [replace_surrogates(str(value)) for value in listed]
    if kind is AttributeType.NUMBER:
        numbers = (value for value in listed if isinstance(value, int | float))
        return [float(value) + 0.0 for value in numbers if value - value == 0]  # -0 is 0
    return [as_utc(value) for value in listed if isinstance(value, datetime)]
