"""Search attributes: names, types, lists of values, and the eight default attributes (Ultra Search 5.3, 5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import AttributeValue


class AttributeType(StrEnum):
    """The three types of search attributes (Ultra Search 5.2)."""

    STRING = "string"
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class SearchAttribute:
    """A searchable attribute; a document may have several values of it."""

    name: str
    type: AttributeType = AttributeType.STRING
    searched: bool = field(default=False, compare=False)
    """Whether searches without an attribute find the words of its values, as those of the text. It changes no field."""


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
"""Stores fields without a search attribute of their own, each as `name=value`; sources with filters fill it."""


def field_value(name: str, value: str) -> str:
    """Return a field as a value of `OTHER_FIELDS`."""
    return f"{field_name(name)}={value.strip()}"


def field_name(name: str) -> str:
    """Return the name of a field as stored in `OTHER_FIELDS`: lower case, without an equals sign."""
    return name.strip().lower().replace("=", "-")


def with_fields(attributes: Mapping[str, Sequence[AttributeValue]]) -> dict[str, list[AttributeValue]]:
    """Return the search attributes of a document, with the fields in `OTHER_FIELDS` under their own names."""
    result = {name: list(values) for name, values in attributes.items() if name != OTHER_FIELDS.name}
    for name, value in fields_of(attributes):
        result.setdefault(name, []).append(value)
    return result


def fields_of(attributes: Mapping[str, Sequence[AttributeValue]]) -> Iterator[tuple[str, str]]:
    """Yield name and value of each field in `OTHER_FIELDS` of a document."""
    for field_text in attributes.get(OTHER_FIELDS.name, ()):
        name, _, value = str(field_text).partition("=")
        yield name, value


@dataclass(frozen=True, slots=True)
class ListedValue:
    """A value as in documents, and its display names by language code in lower case (`en`, `pt-br`).

    The code `""` has the name for all languages. The value need not occur in any document.
    """

    value: str
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def display_name(self, language: str = "") -> str:
        """Return the name in a language (for `pt-BR` also in `pt`), else any name, else the value."""
        return named({self.value: self.names}, self.value, language)


def named(names: Mapping[str, Mapping[str, str]], key: str, language: str) -> str:
    """Return the name of `key` in a language, else any name, else `key`; `names` are by key and language code."""
    known = names.get(key, {})
    code = language.lower().replace("_", "-")
    for candidate in (code, code.partition("-")[0], ""):
        if candidate in known:
            return known[candidate]
    return next(iter(known.values()), key)


@dataclass(frozen=True, slots=True)
class ValueList:
    """The ordered list of values of one search attribute."""

    attribute: str
    values: tuple[ListedValue, ...]

    def display_name(self, value: object, language: str = "") -> str:
        """Return the display name of a value of a document; the value itself if it is not in the list."""
        text = value_text(value)
        listed = next((one for one in self.values if one.value.casefold() == text.casefold()), None)
        return listed.display_name(language) if listed is not None else text

    def with_values(self, values: Iterable[ListedValue]) -> ValueList:
        """Return the list with further values appended; values that it has already stay unchanged."""
        known = {listed.value for listed in self.values}
        new = (listed for listed in values if listed.value not in known)
        return ValueList(self.attribute, (*self.values, *new))


def value_text(value: object) -> str:
    """Return a value of a document in the form of lists: whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
