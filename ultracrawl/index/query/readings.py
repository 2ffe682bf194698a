"""Readings of a query without operators: which of its words a document must have, from strict to loose.

Stop words are never required, unless the query has no other words. Of up to three other words all are required, of more
words most are. Looser readings are tried in order while nothing is found, for a question while few hits are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from ultracrawl.dataclass import dataclass
from ultracrawl.index.engine import Reading
from ultracrawl.index.query.scoring import HEADINGS, MAX_VERBATIM_FACTOR, STOP_WORD_FACTOR, VERBATIM_FACTOR
from ultracrawl.index.query.tree import (
    AllOf,
    AnyOf,
    AtLeast,
    Boosted,
    Compound,
    Identifier,
    Named,
    Node,
    Phrase,
    WithOptional,
    Word,
    all_of,
    any_of,
    leaf_text,
    searched_words,
)
from ultracrawl.index.words.analysis import is_bigram

ALL_REQUIRED = 3
"""Up to this number of words all are required at first."""
_WORDS_PER_OPTIONAL = 2
"""One word may be missing for each of these."""
_NAME_TERMS = 2
"""Terms of a name at most: `HashMap entrySet`."""
_HOME_FACTOR = 4.0
"""Factor of a qualifier in the title of a document that has the name in a heading."""
_WHOLE_NAME_FACTOR = 2.0
"""Factor of documents that have a name as it is written, compared with those that have its parts."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word, or group, of a sequence.

    `parts` are the nodes into which it may be split; `words` its folded words, if it is plain words.
    """

    node: Node
    parts: tuple[Node, ...] = ()
    words: tuple[str, ...] = ()
    is_required: bool = False
    is_quoted_word: bool = False
    """Whether it is required only because it is a word in quotation marks."""
    is_qualified: bool = False
    """Whether its parts are a name and, before it, what the name belongs to."""


def majority(number: int) -> int:
    """Return how many words are most of them: half, rounded up."""
    return number - max(1, number // _WORDS_PER_OPTIONAL)


@dataclass(frozen=True, slots=True)
class TermSequence:
    """The terms of a query without OR, with the stop words among them.

    `sentence` are the words as they were typed, if the sequence is long enough to be a sentence of a document.
    """

    terms: Sequence[Term]
    stop_words: frozenset[str] = frozenset()
    sentence: tuple[str, ...] = ()

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The readings that differ for this sequence, the strictest first."""
        required, asked, _ = self._classified()
        terms, parts = len(asked), len(_parts(asked))
        if terms > ALL_REQUIRED and not all(map(self._is_stop_word, asked)):
            return (Reading.MOST_WORDS, Reading.ANY_WORD)
        found = [Reading.ALL_WORDS]
        if any(term.parts for term in asked):
            found.append(Reading.PARTS)
        if majority(parts) > 1:
            found.append(Reading.MOST_WORDS)
        if parts > 1 or (asked and _has_text(required)):
            found.append(Reading.ANY_WORD)
        return tuple(found)

    @property
    def is_question(self) -> bool:
        """Whether it reads like a sentence, not like keywords: more than three words, or several stop words."""
        _, asked, stop_words = self._classified()
        if len(asked) < 2 or all(map(self._is_stop_word, asked)):
            return _is_cjk_sentence(asked)
        return len(asked) > ALL_REQUIRED or len(stop_words) > 1 or _is_cjk_sentence(asked)

    @property
    def is_qualified(self) -> bool:
        """Whether it is the name of one thing, with what it belongs to in the same token."""
        _, asked, _ = self._classified()
        return _is_split_name(asked)

    def node(self, reading: Reading) -> Node:
        """Return the tree of the sequence in a reading."""
        required, asked, stop_terms = self._classified()
        nodes = [term.node for term in required]
        optional: tuple[Node, ...] = tuple(
            Boosted(Word(word, "Title"), STOP_WORD_FACTOR) for term in stop_terms for word in term.words
        )
        if asked and reading is Reading.ANY_WORD and _has_text(required):
            optional = (*_parts(asked), *optional)
        elif asked:
            nodes.append(_with_name(_NODE_BUILDERS[reading](asked), asked))
        node = all_of(nodes)
        node = WithOptional(node, optional) if optional else node
        if self.is_question and reading is not self.readings[0]:
            strict = all_of([term.node for term in required] + [_NODE_BUILDERS[self.readings[0]](asked)])
            node = Boosted(node, _verbatim_factor(node), strict)
        if not self.sentence or _name_words(asked):
            return node
        return Boosted(node, _verbatim_factor(node), Phrase(self.sentence))

    def _classified(self) -> tuple[list[Term], list[Term], list[Term]]:
        """Return the required terms, the optional ones of which some must match, and the stop words."""
        plain = [term for term in self.terms if not term.is_required and not self._is_stop_word(term)]
        # A pasted message has names in quotation marks (`user "joe"`), which no document needs to have.
        is_message = len(plain) > ALL_REQUIRED
        required = [
            term for term in self.terms if term.is_required and not (is_message and term.is_quoted_word)
        ]
        others = [term for term in self.terms if term not in required]
        asked = [term for term in others if not self._is_stop_word(term)]
        if not asked and not _has_text(required):
            return required, others, []
        return required, asked, [term for term in others if self._is_stop_word(term)]

    def _is_stop_word(self, term: Term) -> bool:
        return bool(term.words) and self.stop_words.issuperset(term.words)


def _name_words(terms: Sequence[Term]) -> tuple[str, ...] | None:
    """Return the words of a name of one or two terms, its own name last; None if the terms are something else."""
    if len(terms) > 1 and not any(isinstance(term.node, Identifier) for term in terms):
        return None  # two plain words are a topic
    parts = [part for term in _name_last(terms) for part in _name_parts(term)]
    found = [_written(part) for part in parts]
    return tuple(found) if 0 < len(terms) <= _NAME_TERMS and all(found) else None


def _is_split_name(terms: Sequence[Term]) -> bool:
    """Whether the terms are a name with a qualifier; two words are, if the second is one of several parts."""
    if not _name_words(terms):
        return False
    return any(term.is_qualified for term in terms) or (len(terms) > 1 and _has_parts(terms[-1]))


def _has_parts(term: Term) -> bool:
    return len(term.parts) == 1 and isinstance(term.parts[0], Compound)


def _name_last(terms: Sequence[Term]) -> Sequence[Term]:
    """Return the terms with the one that has no qualifier last, if only one has none: `postgresql.conf`, `port`."""
    qualified = [term for term in terms if term.is_qualified]
    return [*qualified, *(term for term in terms if not term.is_qualified)] if qualified else terms


def _name_parts(term: Term) -> tuple[Node, ...]:
    if term.is_qualified:
        return term.parts
    return term.parts if len(term.parts) == 1 else (term.node,)


def _written(part: Node) -> str:
    match part:
        case Word(word, "") | Compound(Word(word, "")) | Identifier(Word(word, "")):
            return word
    return ""


def _with_name(node: Node, terms: Sequence[Term]) -> Node:
    """Return the node, marked as a name if the terms are one. Of two plain words either may be the name."""
    words = _name_words(terms)
    if not words:
        return node
    is_ordered = any(term.is_qualified for term in terms)
    return Named(node, words, words[-1:] if is_ordered else words)


def _name_by_parts(terms: Sequence[Term]) -> Node:
    """Return the node of documents with a name and most of its qualifier, wherever they occur.

    Beside a name of several parts, `relname_oid`, the qualifier need not occur: hardly anything else is called so.
    """
    *qualifier, name = chain.from_iterable(map(_name_parts, _name_last(terms)))
    whole = all_of([term.node.whole if isinstance(term.node, Identifier) else term.node for term in terms])
    home = AllOf((Word(_written(qualifier[-1]), "Title"), Word(_written(name), HEADINGS)))
    optional: tuple[Node, ...] = (Boosted(home, _HOME_FACTOR),)
    found = name
    if isinstance(name, Compound):
        optional = (*optional, *qualifier)
    else:
        found = all_of([name, AtLeast(tuple(qualifier), majority(len(qualifier)) or 1)])
    return Boosted(WithOptional(found, optional), _WHOLE_NAME_FACTOR, whole)


def _is_cjk_sentence(terms: Iterable[Term]) -> bool:
    """Whether text without blanks has several runs of content characters, as Japanese between its particles."""
    parts = (part for term in terms for part in term.parts)
    return (
        sum(any(is_bigram(leaf_text(leaf)) for leaf in searched_words(part)) for part in parts)
        >= ALL_REQUIRED
    )


def _verbatim_factor(node: Node) -> float:
    """Return the boost of documents that have all words of a node in a row, or as a stricter reading wants them."""
    return min(MAX_VERBATIM_FACTOR, VERBATIM_FACTOR ** len(set(searched_words(node))))


def _has_text(terms: Iterable[Term]) -> bool:
    """Whether words are searched in title and text, not only conditions on attributes."""
    return any(True for term in terms for _ in searched_words(term.node))


def _parts(terms: Iterable[Term]) -> tuple[Node, ...]:
    return tuple(part for term in terms for part in term.parts or (term.node,))


def _all_words(terms: Sequence[Term]) -> Node:
    return all_of([term.node for term in terms])


def _all_parts(terms: Sequence[Term]) -> Node:
    if _is_split_name(terms):
        return _name_by_parts(terms)
    return all_of([all_of(list(term.parts)) if term.parts else term.node for term in terms])


def _most_words(terms: Sequence[Term]) -> Node:
    if len(terms) <= ALL_REQUIRED:
        parts = _parts(terms)
        return AtLeast(parts, majority(len(parts)))
    nodes = tuple(AnyOf((term.node, all_of(list(term.parts)))) if term.parts else term.node for term in terms)
    return AtLeast(nodes, majority(len(nodes)))


def _any_word(terms: Sequence[Term]) -> Node:
    parts = _parts(terms)
    return AtLeast(parts, 1) if len(parts) > 1 else any_of(list(parts))


_NODE_BUILDERS: dict[Reading, Callable[[Sequence[Term]], Node]] = {
    Reading.ALL_WORDS: _all_words,
    Reading.PARTS: _all_parts,
    Reading.MOST_WORDS: _most_words,
    Reading.ANY_WORD: _any_word,
}
