"""Document attributes computed by rules of a source: constants, templates, extraction by expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from ultracrawl.dataclass import dataclass
from ultracrawl.model import Document
from ultracrawl.rules.urls.canonical import host_of

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[\w.:-]+")
MAX_VALUES = 1000
"""Maximum number of values that one expression extracts from one text."""

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
"""Fields of every document that templates and expressions may use besides its attributes."""

Values = Mapping[str, Sequence[str]]


class ExpressionMatch(Protocol):
    """A match of an expression, of `re` or RE2."""

    def group(self, group: int = 0, /) -> str | None:
        """Return the text of a group, None if it did not take part in the match."""


class MadeValue(Protocol):
    """A rule that computes values of one document attribute; values of several rules are added up."""

    @property
    def name(self) -> str:
        """The document attribute, in lower case."""

    @property
    def applies(self) -> Callable[[str], bool] | None:
        """Returns for an access URL whether the rule applies; None: it always does."""

    def values(self, document: Document, attributes: Values) -> list[str]:
        """Return the values for a document; `attributes` are its own and those of previous rules."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value for every document."""

    name: str
    value: str
    applies: Callable[[str], bool] | None = None
    """Returns for an access URL whether the rule applies; None: it always does."""

    def values(self, document: Document, attributes: Values) -> list[str]:
        """Return the value as a list of one."""
        return [self.value]


@dataclass(frozen=True, slots=True)
class Template:
    """A text with placeholders, such as `{host}/{title}`.

    A placeholder is a field of the document or a document attribute, of which the first value is used. A document
    that lacks one of them gets no value.
    """

    name: str
    text: str
    applies: Callable[[str], bool] | None = None

    def values(self, document: Document, attributes: Values) -> list[str]:
        """Return the filled template as a list of one, or an empty list."""
        names = {name: _first(name, document, attributes) for name in template_names(self.text)}
        if not all(names.values()):
            return []
        return [_PLACEHOLDER.sub(lambda match: names[match[1].lower()], self.text)]


@dataclass(frozen=True, slots=True)
class Extract:
    """Extracts the matches of an expression in a field or attribute: its first group, or the whole match."""

    name: str
    of: str
    matches: Callable[[str], Sequence[ExpressionMatch]]
    """Finds all matches in a text, at most `MAX_VALUES`."""
    groups: int
    applies: Callable[[str], bool] | None = None

    def values(self, document: Document, attributes: Values) -> list[str]:
        """Return the distinct matches in order."""
        texts = [_FIELDS[self.of](document)] if self.of in _FIELDS else attributes.get(self.of, ())
        extracted = (match.group(1 if self.groups else 0) for text in texts for match in self.matches(text))
        return list(dict.fromkeys(value for value in extracted if value))


def with_made(document: Document, rules: Sequence[MadeValue]) -> dict[str, list[str]]:
    """Return the attributes of a document and those computed by rules, applied in order.

    Computed values replace the values that the document has under the same name.
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
    return frozenset(name.lower() for name in _PLACEHOLDER.findall(text))


def template_mistake(text: str) -> str:
    """Return what is wrong with a template, empty if it is valid."""
    rest = _PLACEHOLDER.sub("", text)
    if "{" in rest or "}" in rest:
        return "a brace has no partner"
    wrong = next((name for name in _PLACEHOLDER.findall(text) if not _NAME.fullmatch(name)), None)
    return "" if wrong is None else f"`{{{wrong}}}` names no field or attribute"


def _first(name: str, document: Document, attributes: Values) -> str:
    if name in _FIELDS:
        return _FIELDS[name](document)
    return next(iter(attributes.get(name, ())), "")
