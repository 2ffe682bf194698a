"""What a search asks for, as a tree that every engine evaluates the same way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Word:
    """The word occurs; in title or text if no attribute is named."""

    word: str
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words occur one directly after the other in one field."""

    words: tuple[str, ...]
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Prefix:
    """Any word with this beginning occurs."""

    prefix: str
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Equal:
    """A value of the attribute is equal; strings are in lower case here and compared so."""

    attribute: str
    value: str | float


@dataclass(frozen=True, slots=True)
class Between:
    """A value of the date attribute lies in the half-open span."""

    attribute: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class FromSource:
    """The document belongs to this source."""

    source: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of the nodes hold; of no nodes: every document."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of the nodes holds; of no nodes: no document."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The node does not hold."""

    node: Node


Node = Word | Phrase | Prefix | Equal | Between | FromSource | AllOf | AnyOf | Not

EVERYTHING = AllOf(())
NOTHING = AnyOf(())


def sought_words(node: Node) -> Iterator[tuple[str, bool]]:
    """Yield the words sought in title and text, each with whether it is only a beginning; for snippets."""
    match node:
        case Word(word, ""):
            yield word, False
        case Prefix(prefix, ""):
            yield prefix, True
        case Phrase(found, ""):
            yield from ((word, False) for word in found)
        case AllOf(nodes) | AnyOf(nodes):
            for child in nodes:
                yield from sought_words(child)
