"""The piece of a document's text that is shown below a hit."""

from __future__ import annotations

import html
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice, takewhile
from os.path import commonprefix

from ultracrawl.index.query.tree import Prefix, Word, leaf_text
from ultracrawl.index.words.analysis import WORD_CHARACTERS, fold, is_pair
from ultracrawl.index.words.stemming import language_of, stem_terms

MAX_SNIPPET = 300
"""Characters of a snippet, marks included."""
START_MARK, END_MARK = "\x02", "\x03"

_MAX_MATCHES = 500
_ENOUGH_MATCHES = 60
"""After so many, no more are looked for if all words sought have been seen."""
_MAX_PHRASES = 10
_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")

Span = tuple[int, int, str]


class Highlighter:
    """Makes snippets for one query; it is made once and used for all hits of a page of results.

    Marked are the words sought, with accents or without, and their other forms in the document's language. Where a
    phrase was sought, the piece is one that holds it, if the text does.
    """

    def __init__(self, sought: Iterable[Word | Prefix], phrases: Iterable[tuple[str, ...]] = ()) -> None:
        leaves = list(sought)
        self._phrases = _in_a_row(phrases)
        self._pairs = _pairs([text for leaf in leaves if is_pair(text := leaf_text(leaf))])
        leaves = [leaf for leaf in leaves if not is_pair(leaf_text(leaf))]
        self._exact = {leaf.word for leaf in leaves if isinstance(leaf, Word)}
        self._beginnings = tuple(leaf.prefix for leaf in leaves if isinstance(leaf, Prefix))
        self._stems = {pair for leaf in leaves if isinstance(leaf, Word) for pair in leaf.stems}
        self._candidates = _candidates(leaves)
        self._wanted = len(leaves)
        self._verdicts: dict[tuple[str, str], bool] = {}

    def snippet(self, text: str, language: str = "") -> str:
        """Return the part of the text that holds the most different sought words, with marks around them.

        `language` is the text's own, by whose rules inflected forms are recognised.
        At most 300 characters; white space, control characters and those that turn the direction of writing become
        single spaces. Without a match it is
        the beginning of the text.
        """
        near = self._near_phrase(text, language_of(language))
        if near is not None:
            return _marked(text, *near)
        spans = self._spans(text, language_of(language))
        if not spans:
            beginning = _fold(text[: MAX_SNIPPET * 2])
            return _whole_words(beginning, MAX_SNIPPET, more=len(beginning) > MAX_SNIPPET).rstrip()
        start, end = _window(text, spans)
        return _marked(text, start, end, [span for span in spans if start <= span[0] and span[1] <= end])

    def _near_phrase(self, text: str, language: str) -> tuple[int, int, list[Span]] | None:
        """Return the window with most different words among those around the first places of a phrase."""
        best, most = None, 0
        for found in islice(self._phrases.finditer(text), _MAX_PHRASES) if self._phrases else ():
            start, end = _window_before(text, found.start())
            spans = [span for span in self._spans(text, language, start, end) if span[1] <= end]
            different = len({fold(word) for _, _, word in spans})
            if different > most:
                best, most = (start, end, spans), different
        return best

    def _spans(self, text: str, language: str, start: int = 0, end: int = sys.maxsize) -> list[Span]:
        spans: list[Span] = []
        seen: set[str] = set()
        for span in islice(self._matches(text, language, start), _MAX_MATCHES):
            if span[0] >= end:
                break
            spans.append(span)
            seen.add(span[2])
            if len(spans) >= _ENOUGH_MATCHES and len(seen) >= self._wanted:
                break
        if self._pairs is not None:
            runs = takewhile(lambda span: span[0] < end, _merged(self._pairs, text, start))
            spans = sorted([*spans, *islice(runs, _MAX_MATCHES)])
        return spans

    def _matches(self, text: str, language: str, start: int) -> Iterator[Span]:
        if self._candidates is None:
            return
        for found in self._candidates.finditer(text, start):
            word = found.group().lower()
            if self._is_sought(word, language):
                yield found.start(), found.end(), word

    def _is_sought(self, word: str, language: str) -> bool:
        verdict = self._verdicts.get((word, language))
        if verdict is None:
            folded = fold(word)
            verdict = folded in self._exact or bool(self._beginnings and folded.startswith(self._beginnings))
            if not verdict and language and self._stems:
                stem = stem_terms(language)[word].partition(":")[2] or folded
                verdict = (language, stem) in self._stems
            self._verdicts[word, language] = verdict
        return verdict


def as_html(snippet: str, before: str = "<mark>", after: str = "</mark>") -> str:
    """Return a snippet, or any other text of a document, as HTML: escaped, with markup in the place of the marks."""
    return html.escape(snippet).replace(START_MARK, before).replace(END_MARK, after)


def as_line(text: str) -> str:
    """Return a text of a document fit for a terminal: control characters become blanks."""
    return _fold(text).strip()


def _candidates(leaves: list[Word | Prefix]) -> re.Pattern[str] | None:
    """Return what finds all words that may be sought ones; None if none is sought."""
    if not leaves:
        return None
    forms = sorted({_form(leaf) for leaf in leaves})
    return re.compile(rf"\b(?:{'|'.join(forms)})(?![{WORD_CHARACTERS}])")


def _in_a_row(phrases: Iterable[tuple[str, ...]]) -> re.Pattern[str] | None:
    """Return what finds phrases in a text; None if there are none, or only such as are cut into pairs."""
    whole = [found for found in phrases if not any(map(is_pair, found))]
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
    if isinstance(leaf, Word) and not leaf.stems and not any(pair in word for pair in _FROM_ONE_LETTER):
        return _letters(word)
    return _letters(_common_beginning(leaf)) + rest


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


def _merged(pairs: re.Pattern[str], text: str, first: int) -> Iterator[Span]:
    """Yield the runs, from a place on, in which occurrences of pairs overlap."""
    start = end = -1
    for found in pairs.finditer(text, first):
        if found.start() >= end >= 0:
            yield start, end, text[start:end]
            start = -1
        start = found.start() if start < 0 else start
        end = found.end(1)
    if end >= 0:
        yield start, end, text[start:end]


def _window(text: str, spans: list[Span]) -> tuple[int, int]:
    """Return the window with most different words; of equals the one with most matches, then the first."""
    width = MAX_SNIPPET - 60
    best, best_worth = spans[0][0], (0, 0)
    inside: Counter[str] = Counter()
    last = 0
    for first, span in enumerate(spans):
        while last < len(spans) and spans[last][1] - span[0] <= width:
            inside[spans[last][2]] += 1
            last += 1
        worth = len(inside), last - first
        if worth > best_worth:
            best, best_worth = span[0], worth
        if last == first:  # one match longer than the window
            last += 1
        elif inside[span[2]] == 1:
            del inside[span[2]]
        else:
            inside[span[2]] -= 1
    return _window_before(text, best)


def _window_before(text: str, best: int) -> tuple[int, int]:
    """Return the window that begins with a word a little before a place."""
    start = max(0, best - 50)
    if start:
        space = text.find(" ", start, best)
        start = space + 1 if space >= 0 else best
    return start, min(len(text), start + MAX_SNIPPET)


def _marked(text: str, start: int, end: int, spans: list[Span]) -> str:
    pieces: list[str] = []
    size, at = 0, start
    for left, right, _ in spans:
        before, word = _fold(text[at:left]), text[left:right]
        if size + len(before) + len(word) + 2 > MAX_SNIPPET:
            break
        pieces += [before, START_MARK, word, END_MARK]
        size += len(before) + len(word) + 2
        at = right
    rest, room = _fold(text[at:end]), MAX_SNIPPET - size
    pieces.append(_whole_words(rest, room, more=end < len(text) or len(rest) > room))
    return "".join(pieces).strip() or _fold(text[start:end])[:MAX_SNIPPET]


def _whole_words(text: str, limit: int, *, more: bool) -> str:
    """Return the beginning of a text; with `more` to come it ends after a word, unless that is very long."""
    shown = text[:limit]
    end = shown.rfind(" ") if more else -1
    return shown[:end] if end >= max(0, len(shown) - 40) else shown


def _fold(text: str) -> str:
    return _CONTROLS.sub(" ", text)
