"""`RulesEditor`: edits the files of a robot, and preserves comments, order and blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ultracrawl.errors import UserError
from ultracrawl.sources.filter_files.layout import ALL_WORDS
from ultracrawl.sources.filter_files.lexer import Block, Directive, Parameter, read_text

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PAIR = re.compile(r'(?P<name>[^\s="<>]+)=("(?:\\["\\]|[^"])*"|[^\s>"]*)')
_CLOSING = re.compile(r"</")
_KINDS = {"site": "Site", "filterrule": "FilterRule", "filter": "Filter"}
_CHANGED_BY = {"site": "edit-site", "filterrule": "edit-rule"}


class RulesEditor:
    """Edits the text of a file of a robot; new lines get the line ending of the file.

    Methods raise `UserError` for names that do not exist, or exist already.
    """

    def __init__(self, text: str) -> None:
        self._lines = _LINE.findall(text)
        self._end = "\r\n" if self._lines and self._lines[0].endswith("\r\n") else "\n"

    @property
    def text(self) -> str:
        """The edited text."""
        return "".join(self._lines)

    def add(self, kind: str, name: str, block: str) -> None:
        """Append a block; `kind` is `site` or `filterrule`."""
        if self._block(kind, name) is not None:
            raise UserError(
                f"there is a {_KINDS[kind]} {name!r} already; change it with "
                f"`ultracrawl robot {_CHANGED_BY[kind]}`, or choose another name"
            )
        if self._lines and not self._lines[-1].endswith("\n"):
            self._lines[-1] += self._end
        self._lines += [self._end, *(f"{line}{self._end}" for line in block.splitlines())]

    def remove(self, kind: str, name: str) -> None:
        """Remove a block; with a rule also the `Use` lines that name it."""
        block = self.require(kind, name)
        del self._lines[block.line - 1 : self._last(block)]
        if kind == "filterrule":
            sites = [other for other in self._blocks() if other.kind == "site"]
            self._delete([use for site in sites for use in _directives(site, "Use", {"rule": name})])

    def switch(self, kind: str, name: str, *, on: bool) -> None:
        """Set `enable=on` or `enable=off` in the header of a block."""
        self.write(kind, name, "enable", "on" if on else "off")

    def write(self, kind: str, name: str, key: str, text: str) -> None:
        """Set `key=text` in the header of a block; `text` is already quoted if necessary."""
        self._write(self.require(kind, name).parameters, "name", key, text)

    def write_line(self, kind: str, name: str, word: str, key: str, text: str, /, **values: str) -> bool:
        """Set `key=text` in the directive of a block that has these values; return whether there is one."""
        for directive in _directives(self.require(kind, name), word, values):
            self._write(directive.parameters, next(iter(values)), key, text)
            return True
        return False

    def _write(self, pairs: Sequence[Parameter], behind: str, key: str, text: str) -> None:
        """Replace the pair of this name, or insert it behind another pair."""
        old = next((pair for pair in pairs if pair.name == key), None)
        place = old or next(pair for pair in pairs if pair.name == behind)
        line = self._lines[place.line - 1]
        found = next(match for match in _PAIR.finditer(line) if match["name"] == place.name)
        begin = found.start() if old else found.end()
        self._lines[place.line - 1] = f"{line[:begin]}{'' if old else ' '}{key}={text}{line[found.end() :]}"

    def add_line(self, kind: str, name: str, line: str) -> None:
        """Insert a directive behind the last one with the same word, or at the end of the block."""
        block = self.require(kind, name)
        word = line.split(maxsplit=1)[0].lower()
        ends = [directive.end for directive in block.directives if directive.word.lower() == word]
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
        """Replace the directive with the same word and these values, or add it."""
        block = self.require(kind, name)
        for directive in _directives(block, line.split(maxsplit=1)[0], values):
            del self._lines[directive.line - 1 : directive.end]
            self._insert(directive.line - 1, line)
            return
        self.add_line(kind, name, line)

    def remove_lines(self, kind: str, name: str, word: str, /, **values: str) -> int:
        """Remove the directives of a word that have these values; return their number."""
        found = list(_directives(self.require(kind, name), word, values))
        self._delete(found)
        return len(found)

    def _delete(self, directives: Sequence[Directive]) -> None:
        for directive in sorted(directives, key=lambda one: one.line, reverse=True):
            del self._lines[directive.line - 1 : directive.end]

    # ---- directives by number, and properties

    def numbered(self, filter_name: str | None, numbers: Iterable[int] = ()) -> list[Directive]:
        """Return directives by their numbers, from 1, or all: of a filter, or outside of all blocks (None)."""
        if filter_name is None:
            every = read_text(self.text, "", ("Classify",)).directives
        else:
            every = self.require("filter", filter_name).directives
        wanted = list(numbers)
        for number in wanted:
            if not 0 < number <= len(every):
                raise UserError(f"there is no line {number}; they are numbered from 1 to {len(every)}")
        return [every[number - 1] for number in wanted] if wanted else every

    def set_pair(self, directive: Directive, key: str, text: str) -> None:
        """Set `key=text` in a directive; `text` is already quoted if necessary."""
        if not directive.parameters:
            raise UserError(f"line {directive.line} has no pair `name=value`")
        self._write(directive.parameters, directive.parameters[0].name, key, text)

    def drop_pairs(self, pairs: Iterable[Parameter]) -> None:
        """Remove pairs; a line on which nothing else stood is removed, too."""
        for pair in sorted(pairs, key=lambda one: one.line, reverse=True):
            line = self._lines[pair.line - 1]
            found = next(match for match in _PAIR.finditer(line) if match["name"] == pair.name)
            rest = f"{line[: found.start()].rstrip()} {line[found.end() :].lstrip()}"
            self._lines[pair.line - 1 : pair.line] = [f"{rest.rstrip()}{self._end}"] if rest.strip() else []

    def delete(self, directives: Sequence[Directive]) -> None:
        """Remove directives."""
        self._delete(directives)

    def append(self, line: str) -> None:
        """Add a line at the end of the file."""
        if self._lines and not self._lines[-1].endswith("\n"):
            self._lines[-1] += self._end
        self._lines.append(f"{line}{self._end}")

    def properties(self) -> list[Parameter]:
        """Return the pairs of the `<Process>` block."""
        process = self._process()
        return [*process.parameters, *(pair for line in process.directives for pair in line.parameters)]

    def set_property(self, names: Sequence[str], text: str) -> None:
        """Set a property, given by its name and its other names; `text` is already quoted if necessary."""
        process = self._process()
        old = next((pair for pair in self.properties() if pair.name in names), None)
        if old is not None:
            self._write([old], old.name, old.name, text)
        elif process.end == process.line and process.parameters:
            self._write(process.parameters, process.parameters[-1].name, names[0], text)
        else:
            self._insert(self._last(process) - (1 if process.end else 0), f"{names[0]}={text}")

    def _process(self) -> Block:
        process = next((block for block in self._blocks() if block.kind == "process"), None)
        if process is None:
            raise UserError("there is no <Process> block in the file")
        return process

    def _last(self, block: Block) -> int:
        """Return the last line of a block; an unclosed block ends before the next one."""
        if block.end:
            return block.end
        return next((other.line - 1 for other in self._blocks() if other.line > block.line), len(self._lines))

    def require(self, kind: str, name: str) -> Block:
        """Return the block of a name."""
        block = self._block(kind, name)
        if block is None:
            known = [other.get("name") or "" for other in self._blocks() if other.kind == kind]
            listed = ", ".join(known) or "none"
            raise UserError(f"there is no {_KINDS[kind]} {name!r}; the file has: {listed}")
        return block

    def _block(self, kind: str, name: str) -> Block | None:
        return next(
            (block for block in self._blocks() if (block.kind, block.get("name")) == (kind, name)), None
        )

    def _blocks(self) -> list[Block]:
        return read_text(self.text, "", ALL_WORDS).blocks


def _directives(block: Block, word: str, values: Mapping[str, str]) -> Iterator[Directive]:
    """Yield the directives of a word that have these values."""
    for directive in block.directives:
        has_values = all(directive.get(key) == value for key, value in values.items())
        if has_values and directive.word.lower() == word.lower():
            yield directive
