"""Lexer for the grammar of all portal robot files: blocks, directives, `name=value` pairs.

Rules L1 to L12 of the portal robot: a directive is a word and pairs; it continues on lines that follow a backslash,
begin with a blank, or begin with a pair; comments are whole lines. Damage that occurs in printed configurations (an
unclosed quote or a stray line in a header, `fn-name` for `fn=name`, a header without `>`) is accepted with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import Finding

MAX_DIRECTIVE_LENGTH = 100_000
"""Maximum characters of a directive with all its continuations."""

_PAIR = re.compile(r"[^\s=\"<>#]+=")
_TOKEN = re.compile(r'(?P<name>[^\s="]+)(?P<equals>=?)|(?P<junk>[="])')
_QUOTE = re.compile(r'\\[\\"]|"')
_PLAIN = re.compile(r'[^"\\]+')
_BEFORE_STAR = re.compile(r"\\+(?=\*)")
_BARE = re.compile(r"[^\s]*")
_SPACED_VALUE = re.compile(r"\s*=\s*(?=[^\s=#])")
"""An equals sign behind a blank, with a value behind it."""
_LATE_VALUE = re.compile(r"\s+(?=[^\s=#]+(?:\s|\Z))")
"""The blank between an equals sign and a value that is no pair itself."""
_SINGLE_QUOTED = re.compile(r"'[^']*'")
_LOST_BACKSLASH = re.compile(r'\\(?!\\*\*)(?=[\\"]|\Z)')
_OPENING = re.compile(r"<\s*(?P<kind>[A-Za-z][\w-]*)")
_CLOSING = re.compile(r"</\s*(?P<kind>[A-Za-z][\w-]*)\s*>?\s*\Z")
_CLOSED_AT_ONCE = re.compile(r">\s*</\s*[A-Za-z][\w-]*\s*>?\s*\Z")
_DASHED = re.compile(r"fn-(?P<value>[A-Za-z][\w-]*)\Z")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A `name=value` pair and its line."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Directive:
    """A word with its pairs (`Data fn=filter-by-exact src=type deny=text/plain`); the word may be empty.

    `end` is its last line.
    """

    word: str
    parameters: tuple[Parameter, ...]
    line: int
    end: int = 0

    def get(self, name: str) -> str | None:
        """Return the value of the first pair of this name."""
        return next((pair.value for pair in self.parameters if pair.name == name), None)


@dataclass(slots=True)
class Block:
    """`<Kind name=value ...>` and the directives up to `</Kind>`; `kind` is in lower case.

    `end` is the line of `</Kind>`, 0 if it is missing.
    """

    kind: str
    parameters: tuple[Parameter, ...]
    line: int
    directives: list[Directive] = field(default_factory=list)
    end: int = 0

    def get(self, name: str) -> str | None:
        """Return the value of the first pair of this name in the header."""
        return next((pair.value for pair in self.parameters if pair.name == name), None)


@dataclass(slots=True)
class ConfigText:
    """A parsed file: directives outside blocks, blocks, and findings about the syntax."""

    file: str
    directives: list[Directive] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def add_finding(self, line: int, key: str, problem: str, instead: str, *, fatal: bool = True) -> None:
        """Add a finding."""
        self.findings.append(Finding(self.file, line, key, problem, instead, fatal))


class _Piece(NamedTuple):
    """The part of a logical line in one physical line; `goes_on`: it ended with a backslash."""

    number: int
    text: str
    goes_on: bool = False


class _Line(list[_Piece]):
    """A logical line."""

    @property
    def number(self) -> int:
        return self[0].number

    @property
    def head(self) -> str:
        return self[0].text.lstrip()


def read_text(text: str, file: str, words: Iterable[str]) -> ConfigText:
    """Parse a configuration file; `words` are its directives (case-insensitive). Never raises.

    A line with a leading blank continues the previous one unless it begins with one of these words, so other
    directives are recognised only without indentation.
    """
    known = {word.lower() for word in words}
    result = ConfigText(file)
    block: Block | None = None
    for line in _logical_lines(text, known):
        if line.head.startswith("</"):
            _close(line, block, result)
            block = None
        elif line.head.startswith("<"):
            block = _open(line, block, result)
        else:
            _add_directive(line, block, result)
    if block is not None:
        problem = f"the block <{block.kind}> is not closed"
        result.add_finding(block.line, block.kind, problem, f"end it with a line </{block.kind}>")
    return result


def between_quotes(text: str) -> str:
    """Return a value as it is written between quotes, so that `read_text` reads it unchanged."""
    return _LOST_BACKSLASH.sub(r"\\\\", text).replace('"', '\\"')


# ---- lines


def _logical_lines(text: str, words: set[str]) -> Iterator[_Line]:
    """Join continued lines; a comment between them does not end them."""
    current = _Line()
    goes_on = False
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.rstrip("\r")
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            goes_on = goes_on and bool(stripped)
            continue
        if current and not (goes_on or _continues(line, words, in_header=current.head.startswith("<"))):
            yield current
            current = _Line()
        goes_on = stripped.endswith("\\")
        current.append(_Piece(number, stripped.rstrip("\\") if goes_on else line, goes_on))
    if current:
        yield current


def _continues(line: str, words: set[str], *, in_header: bool) -> bool:
    """Return whether a line goes on with the one before it.

    An indented word that is no pair begins a directive: if it is misspelt, it is reported in its own line.
    """
    stripped = line.strip()
    if stripped.startswith("<") or stripped == ">":
        return stripped == ">"  # the end of a header
    first = stripped.split(None, 1)[0]
    if _PAIR.match(first):
        return True
    return line[0] in " \t" and first.lower() not in words and (in_header or bool(_DASHED.match(first)))


# ---- blocks


def _open(line: _Line, block: Block | None, result: ConfigText) -> Block | None:
    opening = _OPENING.match(line.head)
    if block is not None:
        problem = f"the block <{block.kind}> of line {block.line} is not closed before this one"
        result.add_finding(
            line.number, block.kind, problem, f"blocks do not nest; add </{block.kind}> before this line"
        )
    if opening is None:
        result.add_finding(
            line.number, "block", "a `<` that begins no block", "write for example <Filter name=...>"
        )
        return _begin(Block("", (), line.number), result)
    rest = _Line([line[0]._replace(text=line.head[opening.end() :]), *line[1:]])
    text = rest[-1].text
    header = _CLOSED_AT_ONCE.sub(">", text)
    rest[-1] = rest[-1]._replace(text=header)
    begun = _begin(Block(opening["kind"].lower(), _header_pairs(rest, result), line.number), result)
    if header == text:
        return begun
    begun.end = rest[-1].number
    return None


def _begin(block: Block, result: ConfigText) -> Block:
    result.blocks.append(block)
    return block


def _header_pairs(line: _Line, result: ConfigText) -> tuple[Parameter, ...]:
    for at, piece in enumerate(line):  # properties may follow the end of the header
        body = piece.text.rstrip()
        if body.endswith(">"):
            line[at] = piece._replace(text=body[:-1])
            break
    return tuple(_pairs(line, result, in_header=True))


def _close(line: _Line, block: Block | None, result: ConfigText) -> None:
    closing = _CLOSING.match(line.head)
    kind = closing["kind"].lower() if closing else ""
    if block is None:
        result.add_finding(line.number, kind or "block", "nothing is open here", "remove the line")
        return
    block.end = line.number
    if kind != block.kind:
        problem = f"</{kind}> ends a block <{block.kind}> (line {block.line})"
        result.add_finding(line.number, block.kind, problem, f"write </{block.kind}>")


def _add_directive(line: _Line, block: Block | None, result: ConfigText) -> None:
    word = ""
    first = line.head.partition(" ")[0].partition("\t")[0]
    if "=" not in first and not first.startswith('"'):
        word = first
        line[0] = line[0]._replace(text=line.head[len(first) :])
    parameters = tuple(_pairs(line, result))
    target = result.directives if block is None else block.directives
    target.append(Directive(word, parameters, line.number, line[-1].number))


# ---- pairs


def _pairs(line: _Line, result: ConfigText, *, in_header: bool = False) -> Iterator[Parameter]:
    if sum(len(piece.text) for piece in line) > MAX_DIRECTIVE_LENGTH:
        result.add_finding(line.number, "line", f"longer than {MAX_DIRECTIVE_LENGTH} characters", "split it")
        return
    pieces = ((piece.number, piece.text) for piece in line)
    for number, text in pieces if in_header else _with_whole_values(line):
        at = 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            pair, at = _pair(text, at, number, result, in_header)
            if pair is not None:
                yield pair


def _with_whole_values(line: _Line) -> Iterator[tuple[int, str]]:
    """Yield line numbers and texts; quoted values continued by a backslash are joined."""
    open_parts: list[str] = []
    number, quotes = line.number, 0
    for piece in line:
        if not open_parts:
            number, quotes = piece.number, 0
        open_parts.append(piece.text.lstrip() if open_parts else piece.text)
        quotes += _QUOTE.findall(piece.text).count('"')
        if not (piece.goes_on and quotes % 2):
            yield number, "".join(open_parts)
            open_parts = []
    if open_parts:
        yield number, "".join(open_parts)


def _pair(text: str, at: int, line: int, result: ConfigText, in_header: bool) -> tuple[Parameter | None, int]:
    token = _TOKEN.match(text, at)
    if token is None or token["junk"]:
        problem = f"`{text[at : at + 20]}` is not name=value"
        result.add_finding(line, "parameter", problem, "write name=value", fatal=not in_header)
        return None, len(text)
    name, at = token["name"], token.end()
    if name.startswith("#"):
        problem = "a comment behind other text"
        result.add_finding(line, "comment", problem, "write it on a line of its own", fatal=not in_header)
        return None, len(text)
    if not token["equals"]:
        spaced = _SPACED_VALUE.match(text, at)
        if spaced is None:
            return _pair_without_value(name, line, result, in_header), at
        at = _note_blanks(name, line, result, spaced)
    elif late := _LATE_VALUE.match(text, at):
        at = _note_blanks(name, line, result, late)
    if text.startswith('"', at):
        value, at = _quoted(text, at + 1, line, name, result, in_header)
        return Parameter(name, value, line), at
    bare = _BARE.match(text, at)
    value = bare[0] if bare else ""
    if _SINGLE_QUOTED.fullmatch(value):
        instead = f'write {name}="{value[1:-1]}"'
        result.add_finding(line, name, f"{value} is in single quotes", instead)
        return Parameter(name, value[1:-1], line), at + len(value)
    if value and '"' in value:
        problem = f"a quote inside the value {value!r}"
        result.add_finding(line, name, problem, "put quotes around the whole value", fatal=not in_header)
    return Parameter(name, value, line), at + len(value)


def _note_blanks(name: str, line: int, result: ConfigText, blanks: re.Match[str]) -> int:
    """Report blanks around an equals sign, which are read as if they were not there; returns where the value begins."""
    result.add_finding(line, name, f"blanks around the `=` of `{name}`", f"write {name}=value", fatal=False)
    return blanks.end()


def _pair_without_value(name: str, line: int, result: ConfigText, in_header: bool) -> Parameter | None:
    dashed = _DASHED.match(name)
    if dashed is None:
        instead = f"write {name}=value"
        result.add_finding(line, name, f"`{name}` has no value", instead, fatal=not in_header)
        return None
    result.add_finding(line, "fn", f"`{name}` is read as `fn={dashed['value']}`", "write fn=", fatal=False)
    return Parameter("fn", dashed["value"], line)


def _quoted(text: str, at: int, line: int, name: str, result: ConfigText, in_header: bool) -> tuple[str, int]:
    """Read up to the closing quote; a backslash is literal except before a quote or a backslash.

    Backslashes before a star are kept: they are a notation for "anything" (R5).
    """
    parts: list[str] = []
    while at < len(text):
        char = text[at]
        if char == '"':
            return "".join(parts), at + 1
        if plain := _PLAIN.match(text, at) or _BEFORE_STAR.match(text, at):
            char = plain[0]
        elif char == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
            char = text[at + 1]
            at += 1
        parts.append(char)
        at += len(char)
    instead = 'add a quote (") behind the value'
    result.add_finding(line, name, "the quote is not closed", instead, fatal=not in_header)
    return "".join(parts).rstrip(), at
