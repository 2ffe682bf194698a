"""Names of code and configuration: their parts, and the signs that are words there; index and query cut both alike."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ultracrawl.index.words.analysis import WordCache, fold

Span = tuple[int, int]

_LONGEST, _MOST_PARTS = 60, 10
"""Longer words, and those of more parts, are no names: they are data that was printed."""
_LETTERS = rb"A-Za-z0-9_\xaa\xb5\xba\xc0-\xd6\xd8-\xf6\xf8-\xff"
_QUESTION = "\x01"
_OPERATORS = rb"!#$%&*+\-/<=>\x01@\\^|~"
_is_letter = re.compile(b"[" + _LETTERS + b"]").match
_is_operator = re.compile(b"[" + _OPERATORS + b"]").match


def _part_kind(character: bytes) -> bytes:
    if character == b"_" or not _is_letter(character):
        return b"_" if character == b"_" else b" "
    return b"0" if character.isdigit() else b"A" if character.decode("latin-1").isupper() else b"a"


_BYTES = [bytes((code,)) for code in range(256)]
_PART_KINDS = b"".join(map(_part_kind, _BYTES))
"""Of each character of Latin-1 what it is in a name: `a`, `A`, `0`, `_`, or a blank."""
_BETWEEN_PARTS = (b"_", b"aA", b"AAaa", b"0a", b"0A")
"""What a word of several parts has in it."""
_SIGN_KINDS = b"".join(b"~" if _is_operator(one) else b" " for one in _BYTES)

_GAPS = re.compile(rb"_+|(?<=a)(?=A)|(?<=A)(?=Aaa)|(?:(?<=[aA]{2}0)|(?<=[aA]{2}00)|(?<=[aA]{2}000))(?=[aA]a)")
"""What lies between the parts of a word: `tcp_syncookies`, `hashMap`, `XMLHttp`, `utf8mb4`."""
_SIGNS = _OPERATORS.decode().replace(r"\x01", "?") + ":"
_LETTER = r"[A-Za-z0-9_\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]"
_WORD = re.compile(f"{_LETTER}+")
_WORD_BEFORE = re.compile(rf"{_LETTER}+\Z")

_BEFORE_SMALL = "_0123456789"
"""What stands in a word before a part that begins with a small letter."""
_run_at = re.compile(b"[" + _OPERATORS + b"]+").match
_find_colons = re.compile(rb":[:=]+").findall
_LONGEST_OPERATOR = 5
"""Characters of an operator; longer runs are lines and frames."""
_LONGEST_PLUS, _LONGEST_SHARP = 12, 2
"""Characters of a name before `++` and before `#`: `libstdc++`, `C#`."""
_name_before = re.compile(b"(?<![" + _LETTERS + b"])[" + _LETTERS + rb"]+\Z").search
_find_sharps = re.compile(b"#(?![#" + _LETTERS + b"])").finditer
_FIND_PREFIXED = {
    sign: re.compile(sign + b"(?<![" + _LETTERS + b"].)[" + _LETTERS + b"]+", re.DOTALL).findall
    for sign in (b"@", b"#", b"\\$", b"%")
}
"""By the sign that names may begin with, what finds those."""
_OPERATOR = "operator"
_FUNCTION = _OPERATOR.encode()
_find_functions = re.compile(_FUNCTION + rb" ?(\(\)|\[\]|[" + _OPERATORS + b"]+)").findall


def identifier_terms(text: str) -> list[str]:
    """Return the parts of all words of a text that have several, and its signs as often as they stand there.

    All are folded, and each part is in it once. `tcp_syncookies` has the parts `tcp` and `syncookies`, `XMLHttpRequest`
    has `xml`, `http` and `request`; single characters are none. Signs are operators and the names that have them:
    `->>`, `::`, `!=`, `c++`, `c#`, `@property`, `#pragma`, `$_`, `operator!=`, `operator[]`.
    """
    data = _encoded(text)
    return [*{part for word in _words_of_parts(data) for part in _PARTS[word]}, *_signs(data)]


def query_operators(text: str) -> list[str]:
    """Return the signs by which a piece of a query is found: those of names, and operators if it has no word."""
    found = list(dict.fromkeys(_signs(_encoded(text))))
    named = [sign for sign in found if _WORD.search(sign)]
    return found if not re.search(r"\w", text) else named


def word_parts(word: str) -> tuple[str, ...]:
    """Return the parts of a word as it is written, folded; empty if it is one itself."""
    return tuple(fold(word[start:end].lower()) for start, end in spans_of_parts(word))


def spans_of_parts(word: str) -> list[Span]:
    """Return where the parts of a word stand in it; empty if it is one itself."""
    return _spans(_encoded(word))


def has_part_at(text: str, at: int, size: int) -> bool:
    """Whether so many characters at a place of a text are a part of a word."""
    if at and text[at].islower() and _WORD.match(text[at - 1]) and text[at - 1] not in _BEFORE_SMALL:
        return False  # this is all that is looked at in the middle of most words
    before = _WORD_BEFORE.search(text, max(0, at - _LONGEST), at)
    start = before.start() if before else at
    word = _WORD.match(text, start, start + _LONGEST + 1)
    return word is not None and (at - start, at - start + size) in spans_of_parts(word[0])


def sign_pattern(sign: str) -> str:
    """Return an expression that finds a sign of `identifier_terms` in texts, in lower case."""
    escaped = re.escape(sign)
    if not _WORD.search(sign):
        return f"(?<![{_SIGNS}]){escaped}(?![{_SIGNS}])"
    name, operator = sign[: len(_OPERATOR)], sign[len(_OPERATOR) :]
    if name == _OPERATOR and operator:
        return f"{name} ?{re.escape(operator)}"
    return rf"(?<!\w){escaped}" + (r"(?!\w)" if sign[-1] == "#" or _WORD.match(sign[-1]) else "")


def _encoded(text: str) -> bytes:
    """Return a text in Latin-1, with blanks, so to speak, for all else: `?`, for which a control character stands."""
    return text.replace("?", _QUESTION).encode("latin-1", "replace")


def _words_of_parts(data: bytes) -> set[bytes]:
    """Return the words that may have several parts; finding these few takes half the time of looking at all."""
    kinds = data.translate(_PART_KINDS)
    find, rfind = kinds.find, kinds.rfind
    found = set()
    for sign in _BETWEEN_PARTS:
        at = find(sign)
        while at >= 0:
            start, end = rfind(b" ", 0, at) + 1, find(b" ", at)
            end = len(kinds) if end < 0 else end
            if end - start <= _LONGEST:
                found.add(data[start:end])
            at = find(sign, end)
    return found


def _spans(word: bytes) -> list[Span]:
    if len(word) > _LONGEST:
        return []
    spans, at = [], 0
    for gap in _GAPS.finditer(word.translate(_PART_KINDS)):
        spans.append((at, gap.start()))
        at = gap.end()
    if not at or len(spans) >= _MOST_PARTS:
        return []
    return [(start, end) for start, end in (*spans, (at, len(word))) if end - start > 1]


def _folded(data: bytes) -> str:
    return fold(data.decode("latin-1").replace(_QUESTION, "?").lower())


def _folded_parts(word: bytes) -> tuple[str, ...]:
    return tuple(_folded(word[start:end]) for start, end in _spans(word))


_FOLDED = WordCache(_folded)
_PARTS = WordCache(_folded_parts)


def _signs(data: bytes) -> list[str]:
    found = [*_runs(data), *_find_colons(data)]
    for sign, find in _FIND_PREFIXED.items():
        if sign[-1:] in data:
            found += find(data)
    if b"#" in data:
        found += (_named(data, match.start(), b"#", _LONGEST_SHARP) for match in _find_sharps(data))
    if _FUNCTION in data:
        found += (_FUNCTION + run for run in _find_functions(data) if len(run) <= _LONGEST_OPERATOR)
    return [_FOLDED[sign] for sign in found if 0 < len(sign) <= _LONGEST]


def _runs(data: bytes) -> Iterator[bytes]:
    """Yield the operators of several characters, and the names that end in one."""
    kinds = data.translate(_SIGN_KINDS)
    at = kinds.find(b"~~")
    while at >= 0:
        run = _run_at(data, at)
        assert run is not None
        if len(run[0]) <= _LONGEST_OPERATOR:
            yield run[0]
            if run[0].startswith(b"++"):
                yield _named(data, at, b"++", _LONGEST_PLUS)
        at = kinds.find(b"~~", run.end())


def _named(data: bytes, at: int, sign: bytes, longest: int) -> bytes:
    """Return the name that ends at a place, with its sign; nothing if there is none, or a long one."""
    name = _name_before(data[max(0, at - longest - 1) : at])
    return name[0] + sign if name and len(name[0]) <= longest else b""
