"""Search attributes: names, types and lists of values; the eight that always exist (Ultra Search 5.3, 5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from ultracrawl.model import AttributeValue


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


@dataclass(frozen=True, slots=True)
class ListedValue:
    """A value as documents have it, and its display names by language code in lower case (`en`, `pt-br`).

    The code `""` holds a name that is good for every language. The value need not occur in any document.
    """

    value: str
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def display_name(self, language: str = "") -> str:
        """Return the name in a language: `pt-BR` looks for itself, then `pt`; else any name, else the value."""
        return named({self.value: self.names}, self.value, language)


def named(names: Mapping[str, Mapping[str, str]], key: str, language: str) -> str:
    """Return what something is called in a language, by its names by language code; else by any name, else itself."""
    known = names.get(key, {})
    code = language.lower().replace("_", "-")
    for wanted in (code, code.partition("-")[0], ""):
        if wanted in known:
            return known[wanted]
    return next(iter(known.values()), key)


@dataclass(frozen=True, slots=True)
class ValueList:
    """The list of values of one search attribute, in its order."""

    attribute: str
    values: tuple[ListedValue, ...]

    def display_name(self, value: object, language: str = "") -> str:
        """Return the name of a value of a document; one that is not in the list is shown as it is."""
        text = value_text(value)
        found = next((one for one in self.values if one.value.casefold() == text.casefold()), None)
        return found.display_name(language) if found is not None else text

    def with_values(self, others: Iterable[ListedValue]) -> ValueList:
        """Return this list with others behind it; a value that it has already stays as it is."""
        known = {one.value for one in self.values}
        return ValueList(self.attribute, (*self.values, *(one for one in others if one.value not in known)))


def value_text(value: object) -> str:
    """Return a value of a document as lists write it: whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
