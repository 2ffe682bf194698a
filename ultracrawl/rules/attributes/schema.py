"""Search attributes: their names and types, and the eight that always exist (Ultra Search 5.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class AttributeType(StrEnum):
    """The three types of search attributes (Ultra Search 5.2)."""

    STRING = "string"
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class SearchAttribute:
    """A searchable attribute; every one may have several values in a document."""

    name: str
    type: AttributeType = AttributeType.STRING


DEFAULT_ATTRIBUTES: tuple[SearchAttribute, ...] = (
    SearchAttribute("Title"),
    SearchAttribute("Author"),
    SearchAttribute("Description"),
    SearchAttribute("Subject"),
    SearchAttribute("Mimetype"),
    SearchAttribute("Language"),
    SearchAttribute("Host"),
    SearchAttribute("LastModifiedDate", AttributeType.DATE),
)


def attribute_schema(extra: Iterable[SearchAttribute] = ()) -> dict[str, SearchAttribute]:
    """Return all search attributes by name: the eight defaults first, then `extra` in their order."""
    schema = {attribute.name: attribute for attribute in DEFAULT_ATTRIBUTES}
    schema.update((attribute.name, attribute) for attribute in extra)
    return schema
