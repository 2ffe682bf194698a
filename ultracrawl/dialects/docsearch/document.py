"""Parses JSON into plain data and the line of each value."""

from __future__ import annotations

import json
import re

from ultracrawl.sources.reading.tree import Data, OptionPath

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_SPACE = re.compile(r"\s*")


class DocumentError(ValueError):
    """A file is not JSON; `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line, self.problem = line, problem


def parse_document(text: str) -> tuple[Data, dict[OptionPath, int]]:
    """Return the data of a JSON text, and the line of each member. Raises `DocumentError`."""
    try:
        data: Data = json.loads(text)
    except json.JSONDecodeError as error:
        raise DocumentError(error.lineno, f"is no JSON: {error.msg}") from None
    except RecursionError:
        raise DocumentError(0, "nests too deeply") from None
    return data, _lines(text)


def _lines(text: str) -> dict[OptionPath, int]:
    """Return the line of each member of a valid JSON text."""
    lines: dict[OptionPath, int] = {}
    path: list[str | int] = []
    key, line, at = "", 1, 0
    for match in _TOKEN.finditer(text):
        part = match[0]
        line += text.count("\n", at, match.start())
        at = match.start()
        if part in "{[":
            path.append("" if part == "{" else 0)
            if part == "[":
                lines[tuple(path)] = line + _breaks_behind(text, match.end())
        elif part in "}]":
            path.pop()
        elif part == ":":
            path[-1] = key
            lines[tuple(path)] = line
        elif part == "," and isinstance(last := path[-1], int):
            path[-1] = last + 1
            lines[tuple(path)] = line + _breaks_behind(text, match.end())
        elif part[0] == '"':
            key = json.loads(part, strict=False)
    return lines


def _breaks_behind(text: str, at: int) -> int:
    """Return the number of line breaks in the white space at a position."""
    rest = _SPACE.match(text, at)
    return rest[0].count("\n") if rest else 0
