"""Finds the words of a query, and their inflected forms, in a text."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property, partial, reduce
from itertools import chain, islice, takewhile
from operator import itemgetter, or_
from os.path import commonprefix
from typing import Any, TypeVar

from ultracrawl.index.hits.identifiers import IdentifierMatcher
from ultracrawl.index.query.tree import (
    Node,
    Prefix,
    Word,
    compounds,
    leaf_text,
    searched_phrases,
    searched_words,
)
from ultracrawl.index.words.analysis import WORD_CHARACTERS, fold, is_bigram, is_word
from ultracrawl.index.words.folded_text import LIGATURES, padded_text
from ultracrawl.index.words.stemming import CHANGE_BEGINNINGS, LANGUAGES, stem_terms

MAX_MATCHES = 500
_BITS = itemgetter(2)
_LONG_TEXT = 1000
"""Characters of a text whose matches are kept."""
_ENOUGH_MATCHES = 60
"""Matches after which the search stops if all words have been seen."""

Key = TypeVar("Key")
Value = TypeVar("Value")
Span = tuple[int, int, int]
"""Start and end of a match, and the bits of the query words that it matches."""


class _Computed(dict[Key, Value]):
    """Values that are computed when they are needed first."""

    def __init__(self, compute: Callable[[Key], Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: Key) -> Value:
        value = self[key] = self._compute(key)
        return value


class _Scan:
    """Matches in a text that are searched for as far as somebody asks, and kept for the next one who does."""

    def __init__(self, found: Iterator[Span]) -> None:
        self._found, self._kept = found, list[Span]()

    def __iter__(self) -> Iterator[Span]:
        yield from self._kept
        for span in self._found:
            self._kept.append(span)
            yield span


class Matcher:
    """Finds the words of one query in texts; built once and used for all hits of a page of results.

    Matches are the words themselves, with or without accents, and their inflected forms in the language of the text.
    """

    def __init__(
        self,
        node: Node,
        languages: Container[str] = LANGUAGES,
        folded: Callable[[str], tuple[bytes, bool]] | None = None,
    ) -> None:
        """Take the inflected forms in these languages into account, such as those of the documents of an index.

        `folded` is `padded_text` with a memory.
        """
        leaves = list(dict.fromkeys(_in_languages(leaf, languages) for leaf in searched_words(node)))
        self.all_bits = (1 << len(leaves)) - 1
        """The bits of all query words."""
        self.phrase_bit = 1 << len(leaves)
        """The bit of the phrases."""
        self._phrases = [found for found in searched_phrases(node) if not any(map(is_bigram, found))]
        self._bigrams = {
            leaf_text(leaf): 1 << n for n, leaf in enumerate(leaves) if is_bigram(leaf_text(leaf))
        }
        plain = [(leaf, 1 << n) for n, leaf in enumerate(leaves) if not is_bigram(leaf_text(leaf))]
        self._exact = {leaf.word: bit for leaf, bit in plain if isinstance(leaf, Word)}
        self._prefixes = {leaf.prefix: bit for leaf, bit in plain if isinstance(leaf, Prefix)}
        self._stems = {pair: bit for leaf, bit in plain if isinstance(leaf, Word) for pair in leaf.stems}
        self._identifiers = IdentifierMatcher(self._exact)
        for compound in compounds(node):  # a word as it is written has all of its parts
            parts = [self._exact[part.word] for part in compound.parts]
            self._exact[compound.whole.word] = reduce(or_, parts, self._exact[compound.whole.word])
        words = [(leaf, bit) for leaf, bit in plain if is_word(leaf_text(leaf))]
        self._leaves = [leaf for leaf, _ in words]
        self._literal_prefixes = _literal_prefixes(self._leaves)
        self._compounds = list(_compounds(self._exact))
        self._all = sum(bit for _, bit in words)
        self._bits_of_word: dict[str, dict[str, int]] = _Computed(
            lambda language: _Computed(partial(self._bits, language))
        )
        """The bits of words, by language."""
        self._bits_of_ascii: dict[str, dict[bytes, int]] = _Computed(
            lambda language: _Computed(partial(self._ascii_bits, language))
        )
        """The bits of folded words with the blank before them, by language."""
        self._folded_text = folded or cache(padded_text)
        self._scans: dict[tuple[str, str], _Scan] = {}
        """What was found in long texts, by text and language."""

    def spans(
        self, text: str, language: str, start: int = 0, end: int = sys.maxsize, most: int = _ENOUGH_MATCHES
    ) -> list[Span]:
        """Return the matches in a part of a text, sorted by position; overlapping bigrams are one match.

        Words that do not occur are searched among the parts of identifiers. Once all words have been seen, the search
        stops after `most` matches; before that after the larger of `most` and `MAX_MATCHES`.
        """
        spans, seen = self._words(text, language, start, end, most)
        others = [
            *islice(self._identifiers.operators(text, start, end), most),
            *islice(self._identifiers.parts(text, start, end, self._all & ~seen), most),
        ]
        if self._bigrams:
            runs = takewhile(lambda span: span[0] < end, self._runs(text, start))
            others += islice(runs, max(most, MAX_MATCHES))
        return sorted([*spans, *others], key=lambda span: (span[0], -span[1])) if others else spans

    def phrases(self, text: str, start: int, most: int) -> list[int]:
        """Return the first offsets, from `start` on, at which a phrase of the query begins."""
        if not self._phrases:
            return []
        folded, has_ligatures = self._folded_text(text)
        if not folded or (has_ligatures and any(map(_find_pair, chain.from_iterable(self._phrases)))):
            return _starts(self._any_phrases.finditer(text, start), most)
        if self._folded_phrases is None:
            return []
        return _starts(self._folded_phrases.finditer(folded, start), most)

    @property
    def has_compounds(self) -> bool:
        """Whether the query has words with underscores."""
        return bool(self._compounds)

    def is_exact(self, word: str) -> bool:
        """Whether a matched word is a query word itself, not an inflected form."""
        return fold(word.lower()) in self._exact or not word.isalnum()

    @property
    def has_bigrams(self) -> bool:
        """Whether the query has words that are searched as bigrams."""
        return bool(self._bigrams)

    @property
    def has_phrases(self) -> bool:
        """Whether the query has phrases."""
        return bool(self._phrases)

    def word_of(self, bit: int) -> str:
        """Return the query word with a bit; an empty string for those of several words."""
        return next((word for word, own in self._exact.items() if own == bit), "")

    def compounds(self, name: str) -> int:
        """Return the bits of words with underscores (`max_connections`) that a name spells as `max-connections`."""
        return sum(bit for find, bit in self._compounds if find(name))

    def _words(self, text: str, language: str, start: int, end: int, most: int) -> tuple[list[Span], int]:
        """Return the matches of whole words, see `spans`, and the bits of all query words among them."""
        spans: list[Span] = []
        seen = 0
        if not self._leaves:
            return spans, seen
        limit = max(most, MAX_MATCHES)
        for span in self._scanned(text, language, start, end):
            if span[0] >= end:
                break
            spans.append(span)
            seen |= span[2]
            if len(spans) >= most and (seen == self._all or len(spans) >= limit):
                break
        return spans, seen

    def _scanned(self, text: str, language: str, start: int, end: int) -> Iterable[Span]:
        """Return the matches of whole words from `start` on.

        The beginning of a long text is searched by several that ask for more or fewer matches, but only once.
        """
        if start or len(text) < _LONG_TEXT:
            return self._scan(text, language, start, end)
        scan = self._scans.get((text, language))
        if scan is None:
            scan = self._scans[text, language] = _Scan(self._scan(text, language, 0, sys.maxsize))
        return scan

    def _scan(self, text: str, language: str, start: int, end: int) -> Iterator[Span]:
        known = self._bits_of_word[language]
        folded, has_ligatures = self._folded_text(text)
        pattern = self._ligature_pattern if has_ligatures else self._folded_pattern
        if folded and pattern:
            found = self._folded_matches(text, folded, pattern, language, start, end)
        else:
            found = (
                (match.start(), match.end(), known[match[0].lower()])
                for match in self._candidate_pattern.finditer(text, start)
            )
        return filter(_BITS, found)

    def _folded_matches(
        self, text: str, folded: bytes, pattern: re.Pattern[bytes], language: str, start: int, end: int
    ) -> Iterator[Span]:
        """Yield the possible matches in a folded text; of one without query words the bits are 0.

        A folded word of an ASCII text is the word itself, so that it need not be taken out of the text.
        """
        last = folded.find(b" ", end)  # behind the last word that begins before `end`
        found = pattern.finditer(folded, start, len(folded) if last < 0 else last)
        if text.isascii():
            known = self._bits_of_ascii[language]
            return ((match.start(), match.end() - 1, known[match[0]]) for match in found)
        of_word = self._bits_of_word[language]
        return (
            (match.start(), match.end() - 1, of_word[text[match.start() : match.end() - 1].lower()])
            for match in found
        )

    @cached_property
    def _folded_pattern(self) -> re.Pattern[bytes] | None:
        """Pattern of possible matches, with the blank before them, in a folded text without ligatures."""
        pairs = list(zip(self._leaves, self._literal_prefixes, strict=False))  # none if one is not ASCII
        prefixes = [prefix for leaf, prefix in pairs if not _has_no_forms(leaf)]
        return _prefix_pattern(prefixes, {prefix for leaf, prefix in pairs if _has_no_forms(leaf)})

    @cached_property
    def _ligature_pattern(self) -> re.Pattern[bytes] | None:
        """The same in texts with ligatures: no prefix has letters that may be one of them."""
        return _prefix_pattern([_before_pair(prefix) for prefix in self._literal_prefixes])

    @cached_property
    def _candidate_pattern(self) -> re.Pattern[str]:
        """Pattern of possible matches in texts with any letters."""
        forms = sorted({_word_pattern(leaf) for leaf in self._leaves})
        return re.compile(rf"\b(?:{'|'.join(forms)})(?![{WORD_CHARACTERS}])")

    @cached_property
    def _folded_phrases(self) -> re.Pattern[bytes] | None:
        """Pattern of the phrases, with the blank before them, in a folded text; None if none is ASCII."""
        plain = [found for found in self._phrases if all(map(str.isascii, found))]
        forms = {b" +".join(re.escape(word.encode()) for word in found) for found in plain}
        return re.compile(b" (?:" + b"|".join(sorted(forms)) + rb")(?: |\Z)") if forms else None

    @cached_property
    def _any_phrases(self) -> re.Pattern[str]:
        """Pattern of the phrases in texts with any letters."""
        forms = {f"[^{WORD_CHARACTERS}]+".join(map(_letters, found)) for found in self._phrases}
        return re.compile(rf"\b(?:{'|'.join(sorted(forms))})(?![{WORD_CHARACTERS}])")

    def _ascii_bits(self, language: str, word: bytes) -> int:
        return self._bits_of_word[language][word[1:].decode()]

    def _bits(self, language: str, word: str) -> int:
        """Return the bits of the query words that a word of a text matches."""
        folded = fold(word)
        bits = self._exact.get(folded, 0)
        for beginning, bit in self._prefixes.items():
            bits |= bit if folded.startswith(beginning) else 0
        if not bits and language and self._stems:
            stem = stem_terms(language)[word].partition(":")[2] or folded
            bits = self._stems.get((language, stem), 0)
        return bits

    def _runs(self, text: str, first: int) -> Iterator[Span]:
        """Yield the runs of overlapping bigrams from an offset on."""
        found: dict[int, tuple[int, int]] = {}
        for bigram, bit in self._bigrams.items():
            at = text.find(bigram, first)
            while at >= 0:
                found.setdefault(at, (at + len(bigram), bit))
                at = text.find(bigram, at + 1)
        start = end = -1
        bits = 0
        for at in sorted(found):
            if at >= end >= 0:
                yield start, end, bits
                start, bits = -1, 0
            start = at if start < 0 else start
            end, bit = found[at]
            bits |= bit
        if end >= 0:
            yield start, end, bits


def bits_of(bits: int) -> Iterator[int]:
    """Yield the single bits of a number."""
    while bits:
        bit = bits & -bits
        yield bit
        bits ^= bit


def _starts(found: Iterable[re.Match[Any]], most: int) -> list[int]:
    return [match.start() for match in islice(found, most)]


def _literal_prefixes(leaves: list[Word | Prefix]) -> list[str]:
    """Return the prefixes of possible matches; empty if one is not ASCII."""
    found = [leaf_text(leaf) if _has_no_forms(leaf) else _common_prefix(leaf) for leaf in leaves]
    return found if all(map(str.isascii, found)) else []


def _prefix_pattern(prefixes: Iterable[str], whole: Iterable[str] = ()) -> re.Pattern[bytes] | None:
    """Return the pattern of words, with the blank before them; None if there is none, or one may be any word.

    They begin with one of the prefixes, or are those in `whole`, such as single letters, which have no other forms.
    """
    found = sorted(set(prefixes))
    shortest = [one for n, one in enumerate(found) if not one.startswith(tuple(found[:n]))]
    words = [one for one in sorted(set(whole)) if not one.startswith(tuple(shortest))]
    if "" in found or not (shortest or words):
        return None
    parts = [_choice(shortest) + b"[^ ]*"] if shortest else []
    parts += [_choice(words) + rb"(?= |\Z)"] if words else []
    return re.compile(b" (?:" + b"|".join(parts) + b")")


def _choice(texts: Iterable[str]) -> bytes:
    return b"(?:" + b"|".join(re.escape(text.encode()) for text in texts) + b")"


_find_pair = re.compile("|".join(LIGATURES)).search
_find_pair_or_half = re.compile(
    rf"{'|'.join(LIGATURES)}|[{''.join({pair[0] for pair in LIGATURES})}]\Z"
).search


def _before_pair(prefix: str) -> str:
    """Return the part of a prefix before the first letters that may be, or begin, a ligature."""
    found = _find_pair_or_half(prefix)
    return prefix[: found.start()] if found else prefix


def _word_pattern(leaf: Word | Prefix) -> str:
    """Return the regular expression of all words that begin like a word and its inflected forms.

    In scripts with combining marks these may stand between letters.
    """
    word, prefix = leaf_text(leaf), _common_prefix(leaf)
    rest = f"[{WORD_CHARACTERS}]*"
    if not prefix:
        return rf"\w{rest}"
    is_one_letter = word[0] >= "\u0590" or word.startswith(_FROM_ONE_LETTER)
    return _letters(word[0] if is_one_letter else prefix[:_CANDIDATE_LETTERS]) + rest


def _in_languages(leaf: Word | Prefix, languages: Container[str]) -> Word | Prefix:
    """Return a leaf without stems in other languages than these."""
    if isinstance(leaf, Prefix) or not leaf.stems:
        return leaf
    return replace(leaf, stems=tuple(pair for pair in leaf.stems if pair[0] in languages))


def _has_no_forms(leaf: Word | Prefix) -> bool:
    """Whether the leaf is a word without inflected forms."""
    return isinstance(leaf, Word) and not leaf.stems


def _common_prefix(leaf: Word | Prefix) -> str:
    """Return the common prefix of all forms of a word: that of its stems without the last letter (happy, happier).

    It is empty if a form may begin with other letters.
    """
    word = leaf_text(leaf)
    if isinstance(leaf, Word) and any(language in CHANGE_BEGINNINGS for language, _ in leaf.stems):
        return ""
    if isinstance(leaf, Prefix) or not leaf.stems:
        return word[:2]
    common = commonprefix([word, *(stem for _, stem in leaf.stems)])  # noqa: RUF071 - of words, not paths
    return word[: max(2, len(common) - 1)]


_FROM_ONE_LETTER = ("ss", "ae", "oe", "th")
_CANDIDATE_LETTERS = 2
"""Letters of a prefix in a text with any letters; patterns of more take long to compile, and `_bits` decides anyway."""


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


def _compounds(exact: Mapping[str, int]) -> Iterator[tuple[Callable[[str], object], int]]:
    """Yield a search function and the bit of each word with underscores, for names with other separators or none."""
    for word, bit in exact.items():
        parts = [re.escape(part) for part in word.split("_") if part]
        if len(parts) > 1:
            pattern = r"(?<![^\W_])" + r"[\W_]*".join(parts) + r"(?![^\W_])"
            yield re.compile(pattern, re.IGNORECASE).search, bit
