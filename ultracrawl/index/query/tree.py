"""The query tree, which every engine evaluates in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ultracrawl.dataclass import dataclass

Bound = str | float | datetime

PART_FACTOR = 0.3
"""Factor of the score of the parts of a word, compared with the word as it is written."""


@dataclass(frozen=True, slots=True)
class Word:
    """Matches a word; in title, text or address if no attribute is given.

    `stems` are (language, stem): in documents of this language all words with this stem match as well.
    """

    word: str
    attribute: str = ""
    stems: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Phrase:
    """Matches consecutive words in one field, without inflected forms."""

    words: tuple[str, ...]
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Identifier:
    """Matches an identifier of code or configuration as it is written: `whole`.

    `parts`, for looser readings, matches all its parts, wherever they occur.
    """

    whole: Node
    parts: Node


@dataclass(frozen=True, slots=True)
class Compound:
    """Matches a word of several parts, `hashmap`, or all of its parts: `hash` and `map`, for less."""

    whole: Word
    parts: tuple[Word, ...]

    @property
    def choices(self) -> AnyOf:
        """The word and its parts, as the engines evaluate them."""
        return AnyOf((self.whole, Boosted(all_of(list(self.parts)), PART_FACTOR)))


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Matches if the node does, or all words in a row: a line with signs, copied from a document that has it."""

    node: Node
    words: tuple[str, ...]

    @property
    def choices(self) -> AnyOf:
        """Both, as the engines evaluate them."""
        return AnyOf((self.node, Phrase(self.words)))


@dataclass(frozen=True, slots=True)
class Named:
    """Matches if the node does: the query is the name of one thing, `java.util.HashMap.entrySet` or `HashMap entrySet`.

    `words` are the folded words of the name; `names` are those of them that may be the thing's own name. The others are
    its qualifier: what it belongs to.
    """

    node: Node
    words: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prefix:
    """Matches any word with this prefix."""

    prefix: str
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Equal:
    """Matches an equal value of the attribute; strings are in lower case and compared so."""

    attribute: str
    value: str | float


@dataclass(frozen=True, slots=True)
class Between:
    """Matches a value of the attribute in the half-open interval; None is an open end."""

    attribute: str
    start: Bound | None
    end: Bound | None


@dataclass(frozen=True, slots=True)
class FromSource:
    """Matches documents of this source."""

    source: str


@dataclass(frozen=True, slots=True)
class HasAclTerm:
    """Matches documents with any of these ACL terms; used by `query.visibility`."""

    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IsDocument:
    """Matches one document."""

    source: str
    url: str


@dataclass(frozen=True, slots=True)
class HasUrl:
    """Matches documents with this display URL, in any source."""

    url: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Matches if all nodes match; without nodes every document."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Matches if at least one node matches; without nodes no document."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Matches if the node does not."""

    node: Node


EVERYTHING = AllOf(())
NOTHING = AnyOf(())


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Matches if at least `number` nodes match; the score is multiplied by `scoring.coordination_factor`."""

    nodes: tuple[Node, ...]
    number: int


@dataclass(frozen=True, slots=True)
class WithOptional:
    """Matches if the node does; matching `others` add their scores."""

    node: Node
    others: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Boosted:
    """Matches if the node does; its score is multiplied by `factor` if the condition matches as well."""

    node: Node
    factor: float
    condition: Node = EVERYTHING


@dataclass(frozen=True, slots=True)
class ConstantScore:
    """Matches if the node does, with a constant score."""

    node: Node
    score: float


Node = (
    Word | Phrase | Identifier | Compound | Verbatim | Named | Prefix | Equal | Between | FromSource | HasAclTerm
    | IsDocument | HasUrl | AllOf | AnyOf | Not | AtLeast | WithOptional | Boosted | ConstantScore
)  # fmt: skip


def all_of(nodes: list[Node]) -> Node:
    """Return the conjunction of the nodes."""
    if not nodes:
        return EVERYTHING
    return nodes[0] if len(nodes) == 1 else AllOf(tuple(nodes))


def any_of(nodes: list[Node]) -> Node:
    """Return the disjunction of the nodes."""
    return nodes[0] if len(nodes) == 1 else AnyOf(tuple(nodes))


def searched_words(node: Node) -> Iterator[Word | Prefix]:
    """Yield the words and prefixes searched in title and text, those of phrases included; for snippets."""
    match node:
        case Word(_, "") | Prefix(_, ""):
            yield node
        case Phrase(found, ""):
            yield from map(Word, found)
    for child in child_nodes(node):
        yield from searched_words(child)


def searched_phrases(node: Node) -> Iterator[tuple[str, ...]]:
    """Yield the words of phrases searched in title and text, also of those that only boost a score; for snippets."""
    match node:
        case Phrase(found, "") | Boosted(_, _, Phrase(found, "")) | Verbatim(_, found) if len(found) > 1:
            yield found
    for child in child_nodes(node):
        yield from searched_phrases(child)


def words_of_titles(node: Node) -> Iterator[str]:
    """Yield the words that only raise the score of documents with them in the title, such as stop words."""
    match node:
        case Boosted(Word(word, "Title")):
            yield word
    for child in child_nodes(node):
        yield from words_of_titles(child)


def compounds(node: Node) -> Iterator[Compound]:
    """Yield the words of several parts that are searched in title and text."""
    if isinstance(node, Compound):
        yield node
    for child in child_nodes(node):
        yield from compounds(child)


def named(node: Node) -> Named | None:
    """Return the name that the query is; None if it is something else."""
    if isinstance(node, Named):
        return node
    return next(filter(None, map(named, child_nodes(node))), None)


def requested_urls(node: Node) -> Iterator[str]:
    """Yield the display URLs in the query."""
    match node:
        case HasUrl(url):
            yield url
    for child in child_nodes(node):
        yield from requested_urls(child)


def child_nodes(node: Node) -> tuple[Node, ...]:
    """Return the positive child nodes of a node; none for conditions and negations."""
    match node:
        case AllOf(nodes) | AnyOf(nodes) | AtLeast(nodes):
            return nodes
        case WithOptional(child, optional):
            return (child, *optional)
        case Boosted(child) | ConstantScore(child) | Identifier(child) | Named(child) | Verbatim(child):
            return (child,)
        case Compound(whole, parts):
            return (whole, *parts)
    return ()


def leaf_text(leaf: Word | Prefix) -> str:
    """Return the word or the prefix of a leaf."""
    return leaf.word if isinstance(leaf, Word) else leaf.prefix
