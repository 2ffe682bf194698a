"""Finds the words of a query, and their inflected forms, in a text."""

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

MAX_MATCHES = 500
_ENOUGH_MATCHES = 60
"""Matches after which the search stops if all words have been seen."""

Span = tuple[int, int, int]
"""Start and end of a match, and the bits of the query words that it matches."""


class Matcher:
    """Finds the words of one query in texts; built once and used for all hits of a page of results.

    Matches are the words themselves, with or without accents, and their inflected forms in the language of the text.
    """

    def __init__(self, node: Node) -> None:
        leaves = list(dict.fromkeys(searched_words(node)))
        self.all_bits = (1 << len(leaves)) - 1
        """The bits of all query words."""
        self.phrase_bit = 1 << len(leaves)
        """The bit of the phrases."""
        self._phrases = _phrase_pattern(searched_phrases(node))
        self._bigrams = {
            leaf_text(leaf): 1 << n for n, leaf in enumerate(leaves) if is_bigram(leaf_text(leaf))
        }
        self._bigram_pattern = _bigrams(list(self._bigrams))
        plain = [(leaf, 1 << n) for n, leaf in enumerate(leaves) if not is_bigram(leaf_text(leaf))]
        self._exact = {leaf.word: bit for leaf, bit in plain if isinstance(leaf, Word)}
        self._prefixes = {leaf.prefix: bit for leaf, bit in plain if isinstance(leaf, Prefix)}
        self._stems = {pair: bit for leaf, bit in plain if isinstance(leaf, Word) for pair in leaf.stems}
        self._identifiers = IdentifierMatcher(self._exact)
        words = [(leaf, bit) for leaf, bit in plain if is_word(leaf_text(leaf))]
        self._leaves = [leaf for leaf, _ in words]
        self._literal_prefixes = _literal_prefixes(self._leaves)
        self._compounds = list(_compounds(self._exact))
        self._all = sum(bit for _, bit in words)
        self._bits_of_word: dict[tuple[str, str], int] = {}

    def spans(
        self, text: str, language: str, start: int = 0, end: int = sys.maxsize, most: int = _ENOUGH_MATCHES
    ) -> list[Span]:
        """Return the matches in a part of a text, sorted by position; overlapping bigrams are one match.

        Words that do not occur are searched among the parts of identifiers. Once all words have been seen, the search
        stops after `most` matches; before that after the larger of `most` and `MAX_MATCHES`.
        """
        spans: list[Span] = []
        seen = 0
        for span in islice(self._words(text, language, start), max(most, MAX_MATCHES)):
            if span[0] >= end:
                break
            spans.append(span)
            seen |= span[2]
            if len(spans) >= most and seen == self._all:
                break
        spans += islice(self._identifiers.operators(text, start, end), most)
        spans += islice(self._identifiers.parts(text, start, end, self._all & ~seen), most)
        if self._bigram_pattern is not None:
            runs = takewhile(lambda span: span[0] < end, self._runs(self._bigram_pattern, text, start))
            spans += islice(runs, max(most, MAX_MATCHES))
        return sorted(spans, key=lambda span: (span[0], -span[1]))

    def phrases(self, text: str, start: int, most: int) -> list[int]:
        """Return the first offsets, from `start` on, at which a phrase of the query begins."""
        found = self._phrases.finditer(text, start) if self._phrases else ()
        return [one.start() for one in islice(found, most)]

    @property
    def has_compounds(self) -> bool:
        """Whether the query has words with underscores."""
        return bool(self._compounds)

    def is_exact(self, word: str) -> bool:
        """Whether a matched word is a query word itself, not an inflected form."""
        return fold(word.lower()) in self._exact or not word.isalnum()

    @property
    def has_phrases(self) -> bool:
        """Whether the query has phrases."""
        return self._phrases is not None

    def compounds(self, name: str) -> int:
        """Return the bits of words with underscores (`max_connections`) that a name spells as `max-connections`."""
        return sum(bit for find, bit in self._compounds if find(name))

    def _words(self, text: str, language: str, start: int) -> Iterator[Span]:
        if not self._leaves:
            return
        plain = ascii_words(text) if self._literal_prefixes else None
        if plain is not None:
            for match in self._ascii_pattern.finditer(b" " + plain, start):
                at, end = match.start(), match.end() - 1
                bits = self._bits(text[at:end].lower(), language)
                if bits:
                    yield at, end, bits
            return
        for found in self._candidate_pattern.finditer(text, start):
            bits = self._bits(found.group().lower(), language)
            if bits:
                yield found.start(), found.end(), bits

    @cached_property
    def _ascii_pattern(self) -> re.Pattern[bytes]:
        """Pattern of possible matches, with the blank before them, in the output of `ascii_words`."""
        return re.compile(b" (?:" + b"|".join(map(re.escape, self._literal_prefixes)) + b")[^ ]*")

    @cached_property
    def _candidate_pattern(self) -> re.Pattern[str]:
        """Pattern of possible matches in texts with any letters."""
        forms = sorted({_word_pattern(leaf) for leaf in self._leaves})
        return re.compile(rf"\b(?:{'|'.join(forms)})(?![{WORD_CHARACTERS}])")

    def _bits(self, word: str, language: str) -> int:
        """Return the bits of the query words that a word of a text matches."""
        bits = self._bits_of_word.get((word, language))
        if bits is None:
            folded = fold(word)
            bits = self._exact.get(folded, 0)
            for beginning, bit in self._prefixes.items():
                bits |= bit if folded.startswith(beginning) else 0
            if not bits and language and self._stems:
                stem = stem_terms(language)[word].partition(":")[2] or folded
                bits = self._stems.get((language, stem), 0)
            self._bits_of_word[word, language] = bits
        return bits

    def _runs(self, pairs: re.Pattern[str], text: str, first: int) -> Iterator[Span]:
        """Yield the runs of overlapping bigrams from an offset on."""
        start = end = -1
        bits = 0
        for found in pairs.finditer(text, first):
            if found.start() >= end >= 0:
                yield start, end, bits
                start, bits = -1, 0
            start = found.start() if start < 0 else start
            bits |= self._bigrams[found.group(1)]
            end = found.end(1)
        if end >= 0:
            yield start, end, bits


def bits_of(bits: int) -> Iterator[int]:
    """Yield the single bits of a number."""
    while bits:
        bit = bits & -bits
        yield bit
        bits ^= bit


def _literal_prefixes(leaves: list[Word | Prefix]) -> list[bytes]:
    """Return the ASCII prefixes of possible matches, none a prefix of another; empty if any has other letters."""
    found = sorted({leaf_text(leaf) if _has_no_forms(leaf) else _common_prefix(leaf) for leaf in leaves})
    if not all(map(str.isascii, found)):
        return []
    return [one.encode() for n, one in enumerate(found) if not n or not one.startswith(tuple(found[:n]))]


def _phrase_pattern(phrases: Iterable[tuple[str, ...]]) -> re.Pattern[str] | None:
    """Return the pattern of the phrases; None without phrases, or if all consist of bigrams."""
    whole = [found for found in phrases if not any(map(is_bigram, found))]
    if not whole:
        return None
    forms = (f"[^{WORD_CHARACTERS}]+".join(map(_letters, found)) for found in sorted(set(whole)))
    return re.compile(rf"\b(?:{'|'.join(forms)})(?![{WORD_CHARACTERS}])")


def _word_pattern(leaf: Word | Prefix) -> str:
    """Return the regular expression of a word, or of all words with the prefix of its inflected forms.

    Inflection changes the end of a word, except in Arabic; in scripts with combining marks these may stand between
    letters.
    """
    word = leaf_text(leaf)
    rest = f"[{WORD_CHARACTERS}]*"
    if "\u0600" <= word[0] <= "\u06ff":
        return rf"[\u0600-\u06ff]{rest}"
    if word[0] >= "\u0590":
        return _letters(word[0]) + rest
    if _has_no_forms(leaf) and not any(pair in word for pair in _FROM_ONE_LETTER):
        return _letters(word)
    return _letters(_common_prefix(leaf)) + rest


def _has_no_forms(leaf: Word | Prefix) -> bool:
    """Whether the leaf is a word without inflected forms."""
    return isinstance(leaf, Word) and not leaf.stems


def _common_prefix(leaf: Word | Prefix) -> str:
    """Return the common prefix of all forms of a word: that of its stems without the last letter (happy, happier)."""
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
    # A character class with both cases matches several times as fast as re.IGNORECASE.
    both = {variant for letter in letters for variant in (letter, letter.lower(), letter.upper())}
    return "".join(re.escape(variant) for variant in sorted(both) if len(variant) == 1)


@cache
def _accented() -> dict[str, str]:
    """Return the accented letters, and ligatures, that each letter is folded from."""
    variants: dict[str, str] = {"s": "ß", "a": "æ", "o": "œ", "t": "þ", "е": "ё"}
    for code in (*range(0xC0, 0x250), *range(0x386, 0x3D0), *range(0x1E00, 0x2000)):
        plain = fold(chr(code).lower())
        if len(plain) == 1 and plain != chr(code):
            variants[plain] = variants.get(plain, "") + chr(code)
    return variants


def _bigrams(found: list[str]) -> re.Pattern[str] | None:
    """Return the pattern of all occurrences of these bigrams, overlapping ones too."""
    return re.compile(f"(?=({'|'.join(map(re.escape, found))}))") if found else None


def _compounds(exact: Mapping[str, int]) -> Iterator[tuple[Callable[[str], object], int]]:
    """Yield a search function and the bit of each word with underscores, for names with other separators or none."""
    for word, bit in exact.items():
        parts = [re.escape(part) for part in word.split("_") if part]
        if len(parts) > 1:
            pattern = r"(?<![^\W_])" + r"[\W_]*".join(parts) + r"(?![^\W_])"
            yield re.compile(pattern, re.IGNORECASE).search, bit
