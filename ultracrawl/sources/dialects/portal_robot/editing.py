"""Changes in a `filterrules.conf` that leave everything else in it as it stands: comments, order, blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ultracrawl.errors import UserError
from ultracrawl.sources.dialects.portal_robot.layout import ALL_WORDS
from ultracrawl.sources.dialects.portal_robot.lexer import Block, Directive, Parameter, read_text

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PAIR = re.compile(r'(?P<name>[^\s="<>]+)=("(?:\\["\\]|[^"])*"|[^\s>"]*)')
_CLOSING = re.compile(r"</")
_KINDS = {"site": "Site", "filterrule": "FilterRule"}


class RulesEditor:
    """The text of a `filterrules.conf` under changes; lines that come in end as the others do.

    Raises `UserError` for names that are not there, or are there already.
    """

    def __init__(self, text: str) -> None:
        self._lines = _LINE.findall(text)
        self._end = "\r\n" if self._lines and self._lines[0].endswith("\r\n") else "\n"

    @property
    def text(self) -> str:
        """The whole text as it is now."""
        return "".join(self._lines)

    def add(self, kind: str, name: str, block: str) -> None:
        """Append a block; `kind` is `site` or `filterrule`."""
        if self._block(kind, name) is not None:
            raise UserError(
                f"there is a {_KINDS[kind]} {name!r} already; delete it first, or choose another name"
            )
        if self._lines and not self._lines[-1].endswith("\n"):
            self._lines[-1] += self._end
        self._lines += [self._end, *(f"{line}{self._end}" for line in block.splitlines())]

    def remove(self, kind: str, name: str) -> None:
        """Take a block out; with a rule go the `Use` lines that name it."""
        block = self._require(kind, name)
        del self._lines[block.line - 1 : self._last(block)]
        if kind == "filterrule":
            sites = [one for one in self._blocks() if one.kind == "site"]
            self._delete([use for site in sites for use in _directives(site, "Use", {"rule": name})])

    def switch(self, kind: str, name: str, *, on: bool) -> None:
        """Write `enable=on` or `enable=off` into the header of a block."""
        self.write(kind, name, "enable", "on" if on else "off")

    def write(self, kind: str, name: str, key: str, text: str) -> None:
        """Write `key=text` into the header of a block, in the place of what it says now; `text` as it is to stand."""
        self._write(self._require(kind, name).parameters, "name", key, text)

    def write_line(self, kind: str, name: str, word: str, key: str, text: str, /, **values: str) -> bool:
        """Do the same in the directive of a block that has these values; return whether there is one."""
        for one in _directives(self._require(kind, name), word, values):
            self._write(one.parameters, next(iter(values)), key, text)
            return True
        return False

    def _write(self, pairs: Sequence[Parameter], behind: str, key: str, text: str) -> None:
        """Write a pair in the place of the one of its name, else behind another one."""
        old = next((pair for pair in pairs if pair.name == key), None)
        place = old or next(pair for pair in pairs if pair.name == behind)
        line = self._lines[place.line - 1]
        found = next(one for one in _PAIR.finditer(line) if one["name"] == place.name)
        begin = found.start() if old else found.end()
        self._lines[place.line - 1] = f"{line[:begin]}{'' if old else ' '}{key}={text}{line[found.end() :]}"

    def add_line(self, kind: str, name: str, line: str) -> None:
        """Put a directive behind the last one of its word in a block, or at the end of the block."""
        block = self._require(kind, name)
        word = line.split(maxsplit=1)[0].lower()
        ends = [one.end for one in block.directives if one.word.lower() == word]
        if ends:
            at = ends[-1]
        elif block.end == block.line:  # `<Site name=a></Site>`
            at = block.line
            header = self._lines[at - 1]
            closing = [found.start() for found in _CLOSING.finditer(header)][-1]
            self._lines[at - 1 : at] = [f"{header[:closing].rstrip()}{self._end}", header[closing:]]
        else:
            at = self._last(block) - (1 if block.end else 0)
        self._insert(at, line)

    def _insert(self, at: int, line: str) -> None:
        if at and not self._lines[at - 1].endswith("\n"):
            self._lines[at - 1] += self._end
        self._lines.insert(at, f"   {line}{self._end}")

    def put_line(self, kind: str, name: str, line: str, /, **values: str) -> None:
        """Let a directive take the place of the one of its word that has these values, or add it."""
        block = self._require(kind, name)
        for one in _directives(block, line.split(maxsplit=1)[0], values):
            del self._lines[one.line - 1 : one.end]
            self._insert(one.line - 1, line)
            return
        self.add_line(kind, name, line)

    def remove_lines(self, kind: str, name: str, word: str, /, **values: str) -> int:
        """Take out the directives of a word that have these values; returns how many."""
        found = list(_directives(self._require(kind, name), word, values))
        self._delete(found)
        return len(found)

    def _delete(self, found: Sequence[Directive]) -> None:
        for one in reversed(found):
            del self._lines[one.line - 1 : one.end]

    def _last(self, block: Block) -> int:
        """Return the last line of a block; one that is not closed goes as far as the next one."""
        if block.end:
            return block.end
        return next((one.line - 1 for one in self._blocks() if one.line > block.line), len(self._lines))

    def _require(self, kind: str, name: str) -> Block:
        block = self._block(kind, name)
        if block is None:
            known = ", ".join(one.get("name") or "" for one in self._blocks() if one.kind == kind) or "none"
            raise UserError(f"there is no {_KINDS[kind]} {name!r}; the file has: {known}")
        return block

    def _block(self, kind: str, name: str) -> Block | None:
        return next((one for one in self._blocks() if (one.kind, one.get("name")) == (kind, name)), None)

    def _blocks(self) -> list[Block]:
        return read_text(self.text, "", ALL_WORDS).blocks


def _directives(block: Block, word: str, values: Mapping[str, str]) -> Iterator[Directive]:
    """Yield the directives of a word that have some values."""
    for one in block.directives:
        if one.word.lower() == word.lower() and all(one.get(key) == value for key, value in values.items()):
            yield one
