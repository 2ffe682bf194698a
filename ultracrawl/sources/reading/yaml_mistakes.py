"""What is wrong with a text that is not YAML, in the words of who writes a definition; loaded after a mistake only.

No value of the text is part of an answer: it may be a password.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import yaml

from ultracrawl.sources.mistakes import missing_blank

_KEY = r"^[ -]*(?P<key>[\w.-]+)"
_NO_BLANK = re.compile(rf"{_KEY}:(?!//)[^\s\\]")
"""A key with its value, and no blank behind the colon."""
_EQUALS = re.compile(rf"{_KEY}\s*=")
_COLON_IN_VALUE = re.compile(r"[ -]*(?P<key>[\w.-]+): +(?P<value>[^\s\"'\[{#&*!|>].*)")
_SIGN = re.compile(r"(?:^|[\s\[{,])(?P<sign>[*@`%>|])")
"""A sign with a meaning of its own where a value begins."""
_CLOSED_EARLY = re.compile(rf"{_KEY}:\s+'[^']*'[^\s,\]}}]")
_ADVICE = "indent with blanks, write a blank behind each colon, close all quotes and brackets near this line"


class YamlMistake(NamedTuple):
    """A mistake: its line from 1 (0: unknown), what is wrong and what to write."""

    line: int
    problem: str
    instead: str


def explained(error: yaml.MarkedYAMLError, text: str) -> YamlMistake:
    """Return what is wrong with a text that is not YAML, and where."""
    lines = [*text.splitlines(), ""]
    at = line_of(error)
    if _is_second_document(error):
        problem = "a second document begins here"
        return YamlMistake(at, problem, "keep one document in a file, without further `---` lines")
    line = lines[at - 1] if at <= len(lines) else ""
    if line.lstrip(" ").startswith("\t"):
        return YamlMistake(at, "the line is indented with a tab", "indent with blanks")
    return (
        _of_lines(at, lines)
        or _of_value(error, at, line)
        or _of_bracket(error, lines)
        or _of_indent(at, lines)
        or YamlMistake(at, f"is not YAML: {error.problem or error.context or 'cannot be parsed'}", _ADVICE)
    )


def line_of(error: yaml.MarkedYAMLError) -> int:
    """Return the line of an error, from 1; 0 if it has none."""
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 0


def _of_lines(at: int, lines: list[str]) -> YamlMistake | None:
    """Return the mistake of a key that is none: the parser stumbles over it, or over the line behind it."""
    before = next((number for number in range(at - 1, 0, -1) if lines[number - 1].strip()), at)
    for number in (at, before):
        line = lines[number - 1] if 0 < number <= len(lines) else ""
        if found := _NO_BLANK.match(line):
            return YamlMistake(number, *missing_blank(found["key"]))
        if found := _EQUALS.match(line):
            key = found["key"]
            return YamlMistake(number, f"`{key}` has a `=` behind it", f"write it as `{key}: ...`")
    return None


def _of_value(error: yaml.MarkedYAMLError, at: int, line: str) -> YamlMistake | None:
    mark = error.problem_mark
    column = mark.column if mark else 0
    value = _COLON_IN_VALUE.fullmatch(line)
    if value and ": " in f"{value['value']} " and line[column : column + 1] == ":":
        return YamlMistake(at, "the value has a colon in it", f"put it in quotes: `{value['key']}: '...'`")
    if found := _CLOSED_EARLY.match(line):
        problem = "the value has a quotation mark in it, and goes on behind it"
        return YamlMistake(at, problem, f"""put it in double quotes: `{found["key"]}: "..."`""")
    if _is_escape(error):
        problem = "in double quotes a `\\` begins an escape"
        return YamlMistake(at, problem, "put the value in single quotes, or write `\\\\`")
    signs = [one["sign"] for one in _SIGN.finditer(line) if one.start("sign") <= column]
    if signs:
        problem = f"a value begins with `{signs[-1]}`, which is a sign of YAML"
        return YamlMistake(at, problem, f"put the value in quotes: `'{signs[-1]}...'`")
    return None


def _of_bracket(error: yaml.MarkedYAMLError, lines: list[str]) -> YamlMistake | None:
    """Return the mistake of a bracket or a quotation mark that is never closed."""
    begin, end = error.context_mark, error.problem_mark
    if begin is None or end is None:
        return None
    line = lines[begin.line]
    bracket = line[begin.column : begin.column + 1]
    goes_on = begin.line != end.line or not line[end.column :].strip()
    if bracket not in ("[", "{", '"', "'") or not goes_on:
        return None
    comment = "; a `#` behind a blank begins a comment" if " #" in line[begin.column :] else ""
    return YamlMistake(
        begin.line + 1, f"`{bracket}` is opened and not closed", f"close it in the same line{comment}"
    )


def _of_indent(at: int, lines: list[str]) -> YamlMistake | None:
    *above, line = lines[:at] or [""]
    indents = [_indent(one) for one in above if one.strip() and not one.lstrip().startswith("#")]
    if not (line.strip() and indents) or _indent(line) in indents:
        return None
    problem = f"the line is indented by {_indent(line)} blanks, the one above by {indents[-1]}"
    return YamlMistake(at, problem, "indent the options of one group alike")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_second_document(error: yaml.MarkedYAMLError) -> bool:
    """Whether the error is a second document in the file."""
    words = error.context or ""
    return "single document" in words  # sentence: PyYAML has no class of errors for it


def _is_escape(error: yaml.MarkedYAMLError) -> bool:
    words = error.problem or ""
    return "escape" in words
