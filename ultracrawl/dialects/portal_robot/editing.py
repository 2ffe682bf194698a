"""Changes in a `filterrules.conf` that leave everything else in it as it stands: comments, order, blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ultracrawl.dialects.portal_robot.layout import RULE_WORDS
from ultracrawl.dialects.portal_robot.lexer import read_text
from ultracrawl.errors import UserError

_END = re.compile(r"\s*>?\s*(</[^>]*>)?\s*\Z")
_KINDS = {"site": "Site", "filterrule": "FilterRule"}


@dataclass(frozen=True, slots=True)
class Span:
    """A block and its lines: the first, and the one behind the last, both from 0."""

    kind: str
    name: str
    first: int
    end: int


class RulesEditor:
    """The text of a `filterrules.conf` under changes.

    Raises `UserError` for names that are not there, or are there already.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)

    @property
    def text(self) -> str:
        """The whole text as it is now."""
        return "".join(self._lines)

    def add(self, kind: str, name: str, block: str) -> None:
        """Append a block; `kind` is `site` or `filterrule`."""
        if self._span(kind, name) is not None:
            raise UserError(
                f"there is a {_KINDS[kind]} {name!r} already; delete it first, or choose another name"
            )
        if self._lines and not self._lines[-1].endswith("\n"):
            self._lines[-1] += "\n"
        self._lines += ["\n", *block.splitlines(keepends=True)]

    def remove(self, kind: str, name: str) -> None:
        """Take a block out; with a rule go the `Use` lines that name it."""
        span = self._require(kind, name)
        del self._lines[span.first : span.end]
        if kind == "filterrule":
            self._lines = [line for line in self._lines if not _uses(line, name)]

    def switch(self, kind: str, name: str, *, on: bool) -> None:
        """Write `enable=on` or `enable=off` into the header of a block."""
        self.write(kind, name, "enable", "on" if on else "off")

    def write(self, kind: str, name: str, key: str, text: str) -> None:
        """Write `key=text` into the header of a block, in the place of what it says now; `text` as it is to stand."""
        span = self._require(kind, name)
        value = f"{key}={text}"
        known = re.compile(rf'(?<![\w-]){re.escape(key)}\s*=\s*("(?:[^"\\]|\\.)*"|[^\s>"]+)', re.IGNORECASE)
        for number in range(span.first, span.end):
            if known.search(self._lines[number]) and self._in_header(number, span):
                self._lines[number] = known.sub(lambda _: value, self._lines[number], count=1)
                return
        header = self._lines[span.first]
        end = _END.search(header)
        assert end is not None, "the end of a line is there"
        self._lines[span.first] = f"{header[: end.start()]} {value}{header[end.start() :].lstrip(' ')}"

    def add_line(self, kind: str, name: str, line: str) -> None:
        """Put a directive behind the last one of its word in a block, or at the end of the block."""
        span = self._require(kind, name)
        word = line.split(maxsplit=1)[0].lower()
        same = [at for at in range(span.first + 1, span.end) if self._word(at) == word]
        last = span.end - 1 if "</" in self._lines[span.end - 1] else span.end
        at = self._directive_end(same[-1], span) if same else last
        self._lines.insert(at, f"   {line}\n")

    def put_line(self, kind: str, name: str, line: str, **values: str) -> None:
        """Let a directive take the place of the one of its word that has these values, or add it."""
        span = self._require(kind, name)
        for at, end in self._directives(span, line.split(maxsplit=1)[0], values):
            self._lines[at:end] = [f"   {line}\n"]
            return
        self.add_line(kind, name, line)

    def remove_lines(self, kind: str, name: str, word: str, **values: str) -> int:
        """Take out the directives of a word that have these values; returns how many."""
        found = list(self._directives(self._require(kind, name), word, values))
        for at, end in reversed(found):
            del self._lines[at:end]
        return len(found)

    def _directives(self, span: Span, word: str, values: Mapping[str, str]) -> Iterator[tuple[int, int]]:
        """Yield the lines of each directive of a word that has some values: its first, and the one behind its last."""
        for at in range(span.first + 1, span.end):
            if self._word(at) == word.lower():
                end = self._directive_end(at, span)
                (one,) = read_text("".join(self._lines[at:end]), "", RULE_WORDS).directives
                if all(one.get(key) == value for key, value in values.items()):
                    yield at, end

    def _word(self, at: int) -> str:
        """Return the word with which a line begins, in lower case; empty for a comment."""
        words = self._lines[at].split()
        return words[0].lower() if words and not words[0].startswith("#") else ""

    def _directive_end(self, at: int, span: Span) -> int:
        """Return the line behind a directive, which may go on over several."""
        begins = {word.lower() for word in RULE_WORDS}
        end = at + 1
        while (
            end < span.end and self._lines[end - 1].rstrip().endswith("\\") and self._word(end) not in begins
        ):
            end += 1
        return end

    def _in_header(self, number: int, span: Span) -> bool:
        """Whether a line belongs to the header: no directive has begun before it."""
        words = {word.lower() for word in RULE_WORDS}
        between = self._lines[span.first + 1 : number + 1]
        return not any(line.split() and line.split()[0].lower() in words for line in between)

    def _require(self, kind: str, name: str) -> Span:
        span = self._span(kind, name)
        if span is None:
            known = ", ".join(one.name for one in self._spans() if one.kind == kind) or "none"
            raise UserError(f"there is no {_KINDS[kind]} {name!r}; the file has: {known}")
        return span

    def _span(self, kind: str, name: str) -> Span | None:
        return next((one for one in self._spans() if (one.kind, one.name) == (kind, name)), None)

    def _spans(self) -> Iterator[Span]:
        blocks = read_text(self.text, "", RULE_WORDS).blocks
        for number, block in enumerate(blocks):
            stop = blocks[number + 1].line - 1 if number + 1 < len(blocks) else len(self._lines)
            end = next(
                (at + 1 for at in range(block.line - 1, stop) if "</" in self._lines[at].partition("#")[0]),
                stop,
            )
            yield Span(block.kind, block.get("name") or "", block.line - 1, end)


def _uses(line: str, rule: str) -> bool:
    directives = read_text(line, "", RULE_WORDS).directives
    return any(one.word.lower() == "use" and one.get("rule") == rule for one in directives)
