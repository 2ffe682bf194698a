"""Document attributes that a source makes by rules: constants, templates, expressions over texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from ultracrawl.model import Document
from ultracrawl.rules.urls.canonical import host_of

_PLACE = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[\w.:-]+")
MOST_VALUES = 1000
"""Values that one expression takes from one text."""

_FIELDS: Mapping[str, Callable[[Document], str]] = {
    "url": lambda document: document.url,
    "host": lambda document: host_of(document.url).lower(),
    "path": lambda document: urlsplit(document.url).path,
    "source": lambda document: document.source,
    "title": lambda document: document.title,
    "text": lambda document: document.text,
    "language": lambda document: document.language,
    "mimetype": lambda document: document.mimetype.partition(";")[0].strip().lower(),
}
FIELDS = frozenset(_FIELDS)
"""What templates and expressions know of every document, beside its attributes."""

Values = Mapping[str, Sequence[str]]


class Found(Protocol):
    """One match of an expression, as `re` and RE2 have it."""

    def group(self, group: int = 0, /) -> str | None:
        """Return the text of a group, None if it took no part."""


class MadeValue(Protocol):
    """A rule that gives one document attribute values; those of all rules of a name are kept."""

    @property
    def name(self) -> str:
        """The document attribute, in lower case."""

    @property
    def applies(self) -> Callable[[str], bool] | None:
        """Tells by the access URL whether the rule holds for a document; None: for every one."""

    def values(self, document: Document, attributes: Values) -> list[str]:
        """Return the values for a document; `attributes` are its own and those made before."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value for every document."""

    name: str
    value: str
    applies: Callable[[str], bool] | None = None
    """Tells by the URL whether the rule holds for a document; None: for every one."""

    def values(self, document: Document, attributes: Values) -> list[str]:
        """Return the value, as a list of one."""
        return [self.value]


@dataclass(frozen=True, slots=True)
class Template:
    """A text with places for values, `{host}/{title}`.

    A place is filled by a field of the document, or by the first value of a document attribute. A document
    that lacks one of them gets no value.
    """

    name: str
    text: str
    applies: Callable[[str], bool] | None = None

    def values(self, document: Document, attributes: Values) -> list[str]:
        """Return the text with its places filled, as a list of one, or nothing."""
        places = {name: _first(name, document, attributes) for name in template_names(self.text)}
        if not all(places.values()):
            return []
        return [_PLACE.sub(lambda found: places[found[1].lower()], self.text)]


@dataclass(frozen=True, slots=True)
class Extract:
    """What an expression finds in a field or an attribute: its first group, or all of it if it has none."""

    name: str
    of: str
    matches: Callable[[str], Sequence[Found]]
    """Finds all places where the expression fits, at most `MOST_VALUES`."""
    groups: int
    applies: Callable[[str], bool] | None = None

    def values(self, document: Document, attributes: Values) -> list[str]:
        """Return what is found, each once, in order."""
        texts = [_FIELDS[self.of](document)] if self.of in _FIELDS else attributes.get(self.of, ())
        found = (match.group(1 if self.groups else 0) for text in texts for match in self.matches(text))
        return list(dict.fromkeys(text for text in found if text))


def with_made(document: Document, rules: Sequence[MadeValue]) -> dict[str, list[str]]:
    """Return the attributes of a document together with those that rules make, in the order of the rules.

    Values that are made take the place of those that the document has under the same name.
    """
    attributes = dict(document.attributes)
    made: dict[str, list[str]] = {}
    for rule in rules:
        if rule.applies is not None and not rule.applies(document.access_url):
            continue
        values = rule.values(document, attributes)
        if values:
            attributes[rule.name] = made.setdefault(rule.name, [])
            made[rule.name].extend(values)
    return attributes


def template_names(text: str) -> frozenset[str]:
    """Return the names in a template, in lower case."""
    return frozenset(name.lower() for name in _PLACE.findall(text))


def template_mistake(text: str) -> str:
    """Return what is wrong with a template, or empty."""
    rest = _PLACE.sub("", text)
    if "{" in rest or "}" in rest:
        return "a brace has no partner"
    wrong = next((name for name in _PLACE.findall(text) if not _NAME.fullmatch(name)), None)
    return "" if wrong is None else f"`{{{wrong}}}` names no field or attribute"


def _first(name: str, document: Document, attributes: Values) -> str:
    if name in _FIELDS:
        return _FIELDS[name](document)
    return next(iter(attributes.get(name, ())), "")
