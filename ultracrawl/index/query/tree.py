"""What a search asks for, as a tree that every engine evaluates the same way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

Bound = str | float | datetime


@dataclass(frozen=True, slots=True)
class Word:
    """The word occurs; in title, text or address if no attribute is named.

    `stems` are (language, stem): in documents of this language all words with this stem count as well.
    """

    word: str
    attribute: str = ""
    stems: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words occur one directly after the other in one field, exactly as they are."""

    words: tuple[str, ...]
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name of code or configuration stands there as it is written: `whole` holds.

    `parts` holds where all its parts occur, wherever they stand: a looser reading of it.
    """

    whole: Node
    parts: Node


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
    """A value of the attribute lies in the half-open span; None leaves an end open."""

    attribute: str
    start: Bound | None
    end: Bound | None


@dataclass(frozen=True, slots=True)
class FromSource:
    """The document belongs to this source."""

    source: str


@dataclass(frozen=True, slots=True)
class HasAclTerm:
    """The document has this term of its readers; `query.visibility` makes conditions of it."""

    term: str


@dataclass(frozen=True, slots=True)
class IsDocument:
    """It is this document."""

    source: str
    url: str


@dataclass(frozen=True, slots=True)
class HasUrl:
    """The document has this display URL, in whatever source."""

    url: str


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


EVERYTHING = AllOf(())
NOTHING = AnyOf(())


@dataclass(frozen=True, slots=True)
class AtLeast:
    """So many of the nodes hold, or more; the score is multiplied by their `scoring.coordination_factor`."""

    nodes: tuple[Node, ...]
    number: int


@dataclass(frozen=True, slots=True)
class WithOptional:
    """The node holds; the others need not, and add their scores where they do."""

    node: Node
    others: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Boosted:
    """The node holds; its score is multiplied where the condition does as well."""

    node: Node
    factor: float
    condition: Node = EVERYTHING


@dataclass(frozen=True, slots=True)
class ConstantScore:
    """The node holds, and this is the score."""

    node: Node
    score: float


Node = (
    Word | Phrase | Identifier | Prefix | Equal | Between | FromSource | HasAclTerm | IsDocument | HasUrl
    | AllOf | AnyOf | Not | AtLeast | WithOptional | Boosted | ConstantScore
)  # fmt: skip


def all_of(nodes: list[Node]) -> Node:
    """Return the node that holds when all of these do."""
    if not nodes:
        return EVERYTHING
    return nodes[0] if len(nodes) == 1 else AllOf(tuple(nodes))


def any_of(nodes: list[Node]) -> Node:
    """Return the node that holds when one of these does."""
    return nodes[0] if len(nodes) == 1 else AnyOf(tuple(nodes))


def searched_words(node: Node) -> Iterator[Word | Prefix]:
    """Yield the words and beginnings sought in title and text, those of phrases too; for snippets."""
    match node:
        case Word(_, "") | Prefix(_, ""):
            yield node
        case Phrase(found, ""):
            yield from map(Word, found)
    for child in child_nodes(node):
        yield from searched_words(child)


def searched_phrases(node: Node) -> Iterator[tuple[str, ...]]:
    """Yield the words of phrases sought in title and text, also of one that only raises a score; for snippets."""
    match node:
        case Phrase(found, "") | Boosted(_, _, Phrase(found, "")) if len(found) > 1:
            yield found
    for child in child_nodes(node):
        yield from searched_phrases(child)


def requested_urls(node: Node) -> Iterator[str]:
    """Yield the display URLs that are asked for."""
    match node:
        case HasUrl(url):
            yield url
    for child in child_nodes(node):
        yield from requested_urls(child)


def child_nodes(node: Node) -> tuple[Node, ...]:
    """Return the nodes of a node of which some are to hold."""
    match node:
        case AllOf(nodes) | AnyOf(nodes) | AtLeast(nodes):
            return nodes
        case WithOptional(child, optional):
            return (child, *optional)
        case Boosted(child) | ConstantScore(child) | Identifier(child):
            return (child,)
    return ()


def leaf_text(leaf: Word | Prefix) -> str:
    """Return the word, or the beginning, that is sought."""
    return leaf.word if isinstance(leaf, Word) else leaf.prefix
