"""Changes in a `filterrules.conf` that leave everything else in it as it stands: comments, order, blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ultracrawl.dialects.portal_robot.lexer import read_text
from ultracrawl.dialects.portal_robot.rules_file import RULE_WORDS
from ultracrawl.errors import UserError

_ENABLE = re.compile(r"\benable\s*=\s*\"?\w+\"?", re.IGNORECASE)
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
        span = self._require(kind, name)
        value = f"enable={'on' if on else 'off'}"
        for number in range(span.first, span.end):
            if _ENABLE.search(self._lines[number]) and self._in_header(number, span):
                self._lines[number] = _ENABLE.sub(value, self._lines[number], count=1)
                return
        header = self._lines[span.first]
        end = _END.search(header)
        assert end is not None, "the end of a line is there"
        self._lines[span.first] = f"{header[: end.start()]} {value}{header[end.start() :].lstrip(' ')}"

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
