"""Output to a terminal, with control characters of crawled content escaped."""

from __future__ import annotations

import json
from unicodedata import category

import click

_CONTROL_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that move the cursor, change colours or text direction, or end a line."""


def escape_controls(text: str) -> str:
    """Return a text with control characters replaced by JSON escapes."""
    if text.isprintable():
        return text
    return "".join(json.dumps(char)[1:-1] if category(char) in _CONTROL_CATEGORIES else char for char in text)


def print_line(line: str, *, err: bool = False) -> None:
    """Print one line to standard output or error, with control characters escaped."""
    click.echo(escape_controls(line), err=err)
