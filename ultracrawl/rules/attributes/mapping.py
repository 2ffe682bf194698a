"""The map from document attributes of one source to typed search attributes (Ultra Search 5.2 to 5.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ultracrawl.content.languages import language_tag
from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import AttributeValue, Document
from ultracrawl.rules.attributes.making import MadeValue, with_made
from ultracrawl.rules.attributes.schema import OTHER_FIELDS, SearchAttribute, field_value
from ultracrawl.rules.attributes.values import convert, typed
from ultracrawl.rules.urls.canonical import host_of

DESCRIPTION_LENGTH = 200
"""Maximum number of characters of a description made from the text (Ultra Search 5.5)."""

DEFAULT_MAPPING: Mapping[str, str] = MappingProxyType(
    {"author": "Author", "description": "Description", "subject": "Subject"}
)
"""Default mapping of document attributes of web pages."""


class Dropped(NamedTuple):
    """A value that could not be converted to the type of its search attribute."""

    name: str
    """The document attribute."""
    attribute: SearchAttribute
    value: str

    def __str__(self) -> str:
        return f"{self.name}: {self.value!r} is no {self.attribute.type} for {self.attribute.name}"


@dataclass(slots=True)
class MappedAttributes:
    """The search attributes of one document, and the values that could not be converted."""

    values: dict[str, list[AttributeValue]] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)

    def add(self, name: str, attribute: SearchAttribute, texts: Iterable[str]) -> None:
        """Add the distinct values of a document attribute in order."""
        for text in texts:
            value = convert(text, attribute.type)
            if value is not None:
                known = self.values.setdefault(attribute.name, [])
                if value not in known:
                    known.append(value)
            elif text.strip():
                self.dropped.append(Dropped(name, attribute, text))


class AttributeMap:
    """Maps the document attributes of a source to search attributes.

    `mapping` maps document attributes (case-insensitive) to names in `schema`; it overrides
    `DEFAULT_MAPPING`. A document attribute that is not mapped is not searchable. Raises `KeyError` for a
    search attribute that the schema lacks. `made` are rules for computed attributes.
    `keeps` are beginnings of names (`""` for all): `OTHER_FIELDS` (if in the schema) stores such attributes without a
    search attribute, under the rest of their names.
    """

    def __init__(
        self,
        mapping: Mapping[str, str],
        schema: Mapping[str, SearchAttribute],
        description_fallback: bool = False,
        default_language: str = "",
        made: Sequence[MadeValue] = (),
        keeps: tuple[str, ...] = (),
    ) -> None:
        own = {name.lower(): target for name, target in mapping.items()}
        self._targets = {name: schema[target] for name, target in {**DEFAULT_MAPPING, **own}.items()}
        self._schema = schema
        self._description_fallback = description_fallback
        self._default_language = default_language
        self._made = tuple(made)
        self._keeps = keeps if OTHER_FIELDS.name in schema else ()
        self._by_name = {name.casefold(): attribute for name, attribute in schema.items()}

    def is_searchable(self, name: str) -> bool:
        """Return whether a document attribute (in lower case) becomes a search attribute of the same values."""
        return name in self._targets or name.startswith(self._keeps)

    def map(self, document: Document) -> MappedAttributes:
        """Return the search attributes of a document: the basic ones first, then mapped ones."""
        mapped = MappedAttributes()
        for name, text in self._basics(document, mapped):
            if text:
                mapped.add(name.lower(), self._schema[name], [text])
        attributes = with_made(document, self._made) if self._made else document.attributes
        for name, attribute in self._targets.items():
            if texts := attributes.get(name) or _field_values(name, document):
                mapped.add(name, attribute, texts)
        if self._keeps:
            self._keep_unmapped(attributes, mapped)
        if self._description_fallback and not mapped.values.get("Description"):
            mapped.add("text", self._schema["Description"], [first_words(document.text)])
        return mapped

    def _keep_unmapped(self, attributes: Mapping[str, Sequence[str]], mapped: MappedAttributes) -> None:
        """Add the unmapped attributes: under their own name if the schema has it, else to `OTHER_FIELDS`."""
        for name, values in attributes.items():
            prefix = next((one for one in self._keeps if name.startswith(one)), None)
            if prefix is None or name in self._targets or name == "title":
                continue
            rest = name.removeprefix(prefix)
            if prefix and (rest in self._targets or not rest):
                continue  # a rule says what it gets
            known = self._schema.get(rest) if prefix else self._by_name.get(name.casefold())
            texts = values if known else [field_value(rest, value) for value in values if value.strip()]
            mapped.add(name, known or OTHER_FIELDS, texts)

    def typed(self, given: Mapping[str, object]) -> MappedAttributes:
        """Convert search attributes set by a program, single values or lists, to the types of the schema."""
        result = MappedAttributes()
        for name, values in given.items():
            attribute = self._schema.get(name)
            kept = result.values.setdefault(name, []) if attribute else []
            for value in listed(values):
                converted = typed(value, attribute.type) if attribute else None
                if converted is not None:
                    kept.append(converted)
                elif value is not None and value != "":
                    result.dropped.append(Dropped(name, attribute or SearchAttribute(name), _written(value)))
        return result

    def _basics(self, document: Document, mapped: MappedAttributes) -> tuple[tuple[str, str], ...]:
        return (
            ("Title", document.title),
            ("Mimetype", document.mimetype.partition(";")[0].strip().lower()),
            ("Language", self._language_of(document, mapped)),
            ("Host", host_of(document.url).lower()),
            ("LastModifiedDate", document.last_modified),
        )

    def _language_of(self, document: Document, mapped: MappedAttributes) -> str:
        """Return the language of a document, or that of the source; what is none is dropped."""
        tag = language_tag(document.language)
        if document.language and not tag:
            mapped.dropped.append(Dropped("language", self._schema["Language"], document.language))
        return tag or self._default_language


def _written(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of thousands of digits
        return type(value).__name__


def listed(value: object) -> list[object]:
    """Return a collection of values as a list, and anything else as a list of one."""
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]


def _field_values(name: str, document: Document) -> tuple[str, ...]:
    """Return a field of a document that can be mapped like META values, if there is no META of that name."""
    match name:
        case "title":
            return (document.title,)
        case "language":
            return (document.language,)
        case "mimetype":
            return (document.mimetype.partition(";")[0].strip().lower(),)
        case _:
            return ()


def first_words(text: str, length: int = DESCRIPTION_LENGTH) -> str:
    """Return at most `length` characters from the start of `text`, cut at a word, white space collapsed."""
    collapsed = " ".join(text[: 4 * length].split())
    if len(collapsed) <= length:
        return collapsed
    cut = collapsed[: length + 1].rpartition(" ")[0]
    return cut.rstrip() or collapsed[:length]
