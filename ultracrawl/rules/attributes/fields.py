"""Fields of descriptions that nobody knew beforehand: all in one search attribute, and found by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ultracrawl.model import AttributeValue
from ultracrawl.rules.attributes.schema import SearchAttribute

OTHER_FIELDS = SearchAttribute("RD_Fields")
"""Holds what no other attribute does, each value as `name=value`; sources with filters fill it."""


def field_value(name: str, value: str) -> str:
    """Return a value of a field as the attribute holds it; no name of a field has an equals sign then."""
    return f"{field_name(name)}={value.strip()}"


def field_name(name: str) -> str:
    """Return the name of a field as the attribute holds it; case does not matter."""
    return name.strip().lower().replace("=", "-")


def with_fields(attributes: Mapping[str, Sequence[AttributeValue]]) -> dict[str, list[AttributeValue]]:
    """Return the search attributes of a document with its fields beside them, under their own names."""
    found = {name: list(values) for name, values in attributes.items() if name != OTHER_FIELDS.name}
    for name, value in fields_of(attributes):
        found.setdefault(name, []).append(value)
    return found


def fields_of(attributes: Mapping[str, Sequence[AttributeValue]]) -> Iterator[tuple[str, str]]:
    """Yield name and value of each field that search attributes of a document hold, in their order."""
    for one in attributes.get(OTHER_FIELDS.name, ()):
        name, _, value = str(one).partition("=")
        yield name, value
