"""Where the words that a query seeks stand in a text, in whatever form."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice, takewhile
from os.path import commonprefix

from ultracrawl.index.hits.identifiers import IdentifierMatcher
from ultracrawl.index.query.tree import Node, Prefix, Word, leaf_text, searched_phrases, searched_words
from ultracrawl.index.words.analysis import WORD_CHARACTERS, ascii_words, fold, is_bigram, is_word
from ultracrawl.index.words.stemming import stem_terms

MOST_MATCHES = 500
_ENOUGH_MATCHES = 60
"""After so many, no more are looked for if all words sought have been seen."""

Span = tuple[int, int, int]
"""Beginning and end of what was found, and which of the words sought it is: bits."""


class Matcher:
    """Finds what one query seeks; it is made once and used for all hits of a page of results.

    Found are the words sought, with accents or without, and their other forms in the language of a text.
    """

    def __init__(self, node: Node) -> None:
        leaves = list(dict.fromkeys(searched_words(node)))
        self.all_bits = (1 << len(leaves)) - 1
        """Those of all words sought."""
        self.phrase_bit = 1 << len(leaves)
        """That of the phrases sought."""
        self._phrases = _in_a_row(searched_phrases(node))
        self._pairs = {leaf_text(leaf): 1 << n for n, leaf in enumerate(leaves) if is_bigram(leaf_text(leaf))}
        self._find_pairs = _pairs(list(self._pairs))
        plain = [(leaf, 1 << n) for n, leaf in enumerate(leaves) if not is_bigram(leaf_text(leaf))]
        self._exact = {leaf.word: bit for leaf, bit in plain if isinstance(leaf, Word)}
        self._beginnings = {leaf.prefix: bit for leaf, bit in plain if isinstance(leaf, Prefix)}
        self._stems = {pair: bit for leaf, bit in plain if isinstance(leaf, Word) for pair in leaf.stems}
        self._names = IdentifierMatcher(self._exact)
        words = [(leaf, bit) for leaf, bit in plain if is_word(leaf_text(leaf))]
        self._leaves = [leaf for leaf, _ in words]
        self._literals = _literals(self._leaves)
        self._compounds = list(_compounds(self._exact))
        self._all = sum(bit for _, bit in words)
        self._found: dict[tuple[str, str], int] = {}

    def spans(
        self, text: str, language: str, start: int = 0, end: int = sys.maxsize, most: int = _ENOUGH_MATCHES
    ) -> list[Span]:
        """Return where words sought begin in a part of a text, in their order; runs of pairs as one.

        Words that it has not are looked for among the parts of its names.
        Once all have been seen, no more than `most` are looked for; before, no more than `MOST_MATCHES`, or `most`.
        """
        spans: list[Span] = []
        seen = 0
        for span in islice(self._words(text, language, start), max(most, MOST_MATCHES)):
            if span[0] >= end:
                break
            spans.append(span)
            seen |= span[2]
            if len(spans) >= most and seen == self._all:
                break
        spans += islice(self._names.signs(text, start, end), most)
        spans += islice(self._names.parts(text, start, end, self._all & ~seen), most)
        if self._find_pairs is not None:
            runs = takewhile(lambda span: span[0] < end, self._runs(self._find_pairs, text, start))
            spans += islice(runs, max(most, MOST_MATCHES))
        return sorted(spans, key=lambda span: (span[0], -span[1]))

    def phrases(self, text: str, start: int, most: int) -> list[int]:
        """Return the first places, from one on, where a phrase begins that was sought."""
        found = self._phrases.finditer(text, start) if self._phrases else ()
        return [one.start() for one in islice(found, most)]

    @property
    def has_compounds(self) -> bool:
        """Whether words with parts are sought."""
        return bool(self._compounds)

    def is_exact(self, word: str) -> bool:
        """Whether a word that was found is one sought itself, and no other form of it."""
        return fold(word.lower()) in self._exact or not word.isalnum()

    @property
    def has_phrases(self) -> bool:
        """Whether phrases are sought."""
        return self._phrases is not None

    def compounds(self, name: str) -> int:
        """Return which words with parts (`max_connections`) a name has in another spelling (`guc-max-connections`)."""
        return sum(bit for find, bit in self._compounds if find(name))

    def _words(self, text: str, language: str, start: int) -> Iterator[Span]:
        if not self._leaves:
            return
        plain = ascii_words(text) if self._literals else None
        if plain is not None:
            for match in self._beginning.finditer(b" " + plain, start):
                at, end = match.start(), match.end() - 1
                bits = self._bits(text[at:end].lower(), language)
                if bits:
                    yield at, end, bits
            return
        for found in self._candidates.finditer(text, start):
            bits = self._bits(found.group().lower(), language)
            if bits:
                yield found.start(), found.end(), bits

    @cached_property
    def _beginning(self) -> re.Pattern[bytes]:
        """What finds the words that may be sought ones, and the blank before, among words without accents."""
        return re.compile(b" (?:" + b"|".join(map(re.escape, self._literals)) + b")[^ ]*")

    @cached_property
    def _candidates(self) -> re.Pattern[str]:
        """What finds all words that may be sought ones, in texts with any letters."""
        forms = sorted({_form(leaf) for leaf in self._leaves})
        return re.compile(rf"\b(?:{'|'.join(forms)})(?![{WORD_CHARACTERS}])")

    def _bits(self, word: str, language: str) -> int:
        """Return which of the words sought a word of a text is."""
        bits = self._found.get((word, language))
        if bits is None:
            folded = fold(word)
            bits = self._exact.get(folded, 0)
            for beginning, bit in self._beginnings.items():
                bits |= bit if folded.startswith(beginning) else 0
            if not bits and language and self._stems:
                stem = stem_terms(language)[word].partition(":")[2] or folded
                bits = self._stems.get((language, stem), 0)
            self._found[word, language] = bits
        return bits

    def _runs(self, pairs: re.Pattern[str], text: str, first: int) -> Iterator[Span]:
        """Yield the runs, from a place on, in which occurrences of pairs overlap."""
        start = end = -1
        bits = 0
        for found in pairs.finditer(text, first):
            if found.start() >= end >= 0:
                yield start, end, bits
                start, bits = -1, 0
            start = found.start() if start < 0 else start
            bits |= self._pairs[found.group(1)]
            end = found.end(1)
        if end >= 0:
            yield start, end, bits


def bits_of(bits: int) -> Iterator[int]:
    """Yield the single bits of a number."""
    while bits:
        bit = bits & -bits
        yield bit
        bits ^= bit


def _literals(leaves: list[Word | Prefix]) -> list[bytes]:
    """Return how words sought begin without accents, none of them twice; none if they have other letters."""
    found = sorted({leaf_text(leaf) if _is_alone(leaf) else _common_beginning(leaf) for leaf in leaves})
    if not all(map(str.isascii, found)):
        return []
    return [one.encode() for n, one in enumerate(found) if not n or not one.startswith(tuple(found[:n]))]


def _in_a_row(phrases: Iterable[tuple[str, ...]]) -> re.Pattern[str] | None:
    """Return what finds phrases in a text; None if there are none, or only such as are cut into pairs."""
    whole = [found for found in phrases if not any(map(is_bigram, found))]
    if not whole:
        return None
    forms = (f"[^{WORD_CHARACTERS}]+".join(map(_letters, found)) for found in sorted(set(whole)))
    return re.compile(rf"\b(?:{'|'.join(forms)})(?![{WORD_CHARACTERS}])")


def _form(leaf: Word | Prefix) -> str:
    """Return an expression for a word, or for all that begin as its other forms may.

    Inflection changes the end, except in Arabic; in scripts with marks these may stand between the letters.
    """
    word = leaf_text(leaf)
    rest = f"[{WORD_CHARACTERS}]*"
    if "\u0600" <= word[0] <= "\u06ff":
        return rf"[\u0600-\u06ff]{rest}"
    if word[0] >= "\u0590":
        return _letters(word[0]) + rest
    if _is_alone(leaf) and not any(pair in word for pair in _FROM_ONE_LETTER):
        return _letters(word)
    return _letters(_common_beginning(leaf)) + rest


def _is_alone(leaf: Word | Prefix) -> bool:
    """Whether a word is sought that has no other forms."""
    return isinstance(leaf, Word) and not leaf.stems


def _common_beginning(leaf: Word | Prefix) -> str:
    """Return how all forms of a word begin: as its stems do, whose last letter may change (happy, happier)."""
    word = leaf_text(leaf)
    if isinstance(leaf, Prefix) or not leaf.stems:
        return word[:2]
    common = commonprefix([word, *(stem for _, stem in leaf.stems)])  # noqa: RUF071 - of words, not paths
    return word[: max(2, len(common) - 1)]


_FROM_ONE_LETTER = ("ss", "ae", "oe")


def _letters(word: str) -> str:
    accented = _accented()
    return "".join(
        f"[{_in_any_case(letter + accented.get(letter, ''))}][\u0300-\u036f\xad]*" for letter in word
    )


def _in_any_case(letters: str) -> str:
    # Both cases in a class are matched several times as fast as one of them with re.IGNORECASE.
    both = {variant for letter in letters for variant in (letter, letter.lower(), letter.upper())}
    return "".join(re.escape(variant) for variant in sorted(both) if len(variant) == 1)


@cache
def _accented() -> dict[str, str]:
    """Return for each letter those that become it, or begin with it, when accents are folded."""
    variants: dict[str, str] = {"s": "ß", "a": "æ", "o": "œ", "t": "þ", "е": "ё"}
    for code in (*range(0xC0, 0x250), *range(0x386, 0x3D0), *range(0x1E00, 0x2000)):
        plain = fold(chr(code).lower())
        if len(plain) == 1 and plain != chr(code):
            variants[plain] = variants.get(plain, "") + chr(code)
    return variants


def _pairs(found: list[str]) -> re.Pattern[str] | None:
    """Return what finds every occurrence of these pairs of characters, overlapping ones too."""
    return re.compile(f"(?=({'|'.join(map(re.escape, found))}))") if found else None


def _compounds(exact: Mapping[str, int]) -> Iterator[tuple[Callable[[str], object], int]]:
    """Yield what finds words with underscores in names that have other signs there, or none."""
    for word, bit in exact.items():
        parts = [re.escape(part) for part in word.split("_") if part]
        if len(parts) > 1:
            pattern = r"(?<![^\W_])" + r"[\W_]*".join(parts) + r"(?![^\W_])"
            yield re.compile(pattern, re.IGNORECASE).search, bit
