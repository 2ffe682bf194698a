"""Terms of identifiers in code and configuration: their parts and operators; shared by index and query."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ultracrawl.index.words.analysis import WordCache, fold

Span = tuple[int, int]

_LONGEST, _MOST_PARTS = 60, 10
"""Longer words, and those with more parts, are not identifiers but printed data."""
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
"""The kind of each Latin-1 character in an identifier: `a`, `A`, `0`, `_`, or a blank."""
_PART_BOUNDARIES = (b"_", b"aA", b"AAaa", b"0a", b"0A")
"""Sequences of kinds that only words of several parts contain."""
_OPERATOR_KINDS = b"".join(b"~" if _is_operator(one) else b" " for one in _BYTES)

_GAPS = re.compile(rb"_+|(?<=a)(?=A)|(?<=A)(?=Aaa)|(?:(?<=[aA]{2}0)|(?<=[aA]{2}00)|(?<=[aA]{2}000))(?=[aA]a)")
"""The boundaries between parts of a word: `tcp_syncookies`, `hashMap`, `XMLHttp`, `utf8mb4`."""
_SIGNS = _OPERATORS.decode().replace(r"\x01", "?") + ":"
_LETTER = r"[A-Za-z0-9_\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]"
_WORD = re.compile(f"{_LETTER}+")
_WORD_BEFORE = re.compile(rf"{_LETTER}+\Z")

_BEFORE_LOWER_CASE = "_0123456789"
"""Characters that may precede a part that begins with a lower-case letter."""
_run_at = re.compile(b"[" + _OPERATORS + b"]+").match
_find_colons = re.compile(rb":[:=]+").findall
_LONGEST_OPERATOR = 5
"""Characters of the longest operator; longer runs are rules and frames."""
_LONGEST_PLUS, _LONGEST_SHARP = 12, 2
"""Characters of the longest name before `++` and before `#`: `libstdc++`, `C#`."""
_name_before = re.compile(b"(?<![" + _LETTERS + b"])[" + _LETTERS + rb"]+\Z").search
_find_sharps = re.compile(b"#(?![#" + _LETTERS + b"])").finditer
_FIND_PREFIXED = {
    prefix: re.compile(prefix + b"(?<![" + _LETTERS + b"].)[" + _LETTERS + b"]+", re.DOTALL).findall
    for prefix in (b"@", b"#", b"\\$", b"%")
}
"""Functions that find names with a prefix, by that prefix."""
_OPERATOR = "operator"
_OPERATOR_BYTES = _OPERATOR.encode()
_find_functions = re.compile(_OPERATOR_BYTES + rb" ?(\(\)|\[\]|[" + _OPERATORS + b"]+)").findall


def identifier_terms(text: str) -> list[str]:
    """Return the parts of all identifiers in a text, and its operators, as often as they occur.

    All terms are folded; each part occurs once. `tcp_syncookies` has the parts `tcp` and `syncookies`, `XMLHttpRequest`
    has `xml`, `http` and `request`; single characters are dropped. Operators include the names that have them: `->>`,
    `::`, `!=`, `c++`, `c#`, `@property`, `#pragma`, `$_`, `operator!=`, `operator[]`.
    """
    data = _encoded(text)
    return [*{part for word in _compound_candidates(data) for part in _PARTS[word]}, *_operator_terms(data)]


def query_operators(text: str) -> list[str]:
    """Return the operator terms of a token of a query: those of names, and plain operators if it has no word."""
    found = list(dict.fromkeys(_operator_terms(_encoded(text))))
    named = [operator for operator in found if _WORD.search(operator)]
    return found if not re.search(r"\w", text) else named


def word_parts(word: str) -> tuple[str, ...]:
    """Return the folded parts of a word as it is written; empty if it has only one."""
    return tuple(fold(word[start:end].lower()) for start, end in spans_of_parts(word))


def spans_of_parts(word: str) -> list[Span]:
    """Return the spans of the parts of a word; empty if it has only one."""
    return _spans(_encoded(word))


def has_part_at(text: str, at: int, size: int) -> bool:
    """Whether the `size` characters at an offset of a text are a part of a word."""
    if at and text[at].islower() and _WORD.match(text[at - 1]) and text[at - 1] not in _BEFORE_LOWER_CASE:
        return False  # shortcut for the middle of most words
    before = _WORD_BEFORE.search(text, max(0, at - _LONGEST), at)
    start = before.start() if before else at
    word = _WORD.match(text, start, start + _LONGEST + 1)
    return word is not None and (at - start, at - start + size) in spans_of_parts(word[0])


def operator_pattern(term: str) -> str:
    """Return a pattern that matches an operator term of `identifier_terms` in a text in lower case."""
    escaped = re.escape(term)
    if not _WORD.search(term):
        return f"(?<![{_SIGNS}]){escaped}(?![{_SIGNS}])"
    name, operator = term[: len(_OPERATOR)], term[len(_OPERATOR) :]
    if name == _OPERATOR and operator:
        return f"{name} ?{re.escape(operator)}"
    return rf"(?<!\w){escaped}" + (r"(?!\w)" if term[-1] == "#" or _WORD.match(term[-1]) else "")


def _encoded(text: str) -> bytes:
    """Return a text in Latin-1; other characters become `?`, and `?` itself a control character."""
    return text.replace("?", _QUESTION).encode("latin-1", "replace")


def _compound_candidates(data: bytes) -> set[bytes]:
    """Return the words that may have several parts; finding these few takes half the time of examining all."""
    kinds = data.translate(_PART_KINDS)
    find, rfind = kinds.find, kinds.rfind
    found = set()
    for boundary in _PART_BOUNDARIES:
        at = find(boundary)
        while at >= 0:
            start, end = rfind(b" ", 0, at) + 1, find(b" ", at)
            end = len(kinds) if end < 0 else end
            if end - start <= _LONGEST:
                found.add(data[start:end])
            at = find(boundary, end)
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


def _operator_terms(data: bytes) -> list[str]:
    found = [*_operator_runs(data), *_find_colons(data)]
    for prefix, find in _FIND_PREFIXED.items():
        if prefix[-1:] in data:
            found += find(data)
    if b"#" in data:
        found += (
            _name_with_suffix(data, match.start(), b"#", _LONGEST_SHARP) for match in _find_sharps(data)
        )
    if _OPERATOR_BYTES in data:
        found += (_OPERATOR_BYTES + run for run in _find_functions(data) if len(run) <= _LONGEST_OPERATOR)
    return [_FOLDED[operator] for operator in found if 0 < len(operator) <= _LONGEST]


def _operator_runs(data: bytes) -> Iterator[bytes]:
    """Yield the operators of several characters, and the names that end in one."""
    kinds = data.translate(_OPERATOR_KINDS)
    at = kinds.find(b"~~")
    while at >= 0:
        run = _run_at(data, at)
        assert run is not None
        if len(run[0]) <= _LONGEST_OPERATOR:
            yield run[0]
            if run[0].startswith(b"++"):
                yield _name_with_suffix(data, at, b"++", _LONGEST_PLUS)
        at = kinds.find(b"~~", run.end())


def _name_with_suffix(data: bytes, at: int, suffix: bytes, longest: int) -> bytes:
    """Return the name that ends at an offset, with its suffix; empty if there is none, or a long one."""
    name = _name_before(data[max(0, at - longest - 1) : at])
    return name[0] + suffix if name and len(name[0]) <= longest else b""
