"""Output to a terminal, with control characters of crawled content escaped."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from unicodedata import category

import click

_CONTROL_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that move the cursor, change colours or text direction, or end a line."""


def escape_controls(text: str) -> str:
    """Return a text with control characters replaced by JSON escapes."""
    if text.isprintable():
        return text
    return "".join(json.dumps(char)[1:-1] if category(char) in _CONTROL_CATEGORIES else char for char in text)


def print_line(line: str, *, mark: str = "", color: str = "", err: bool = False) -> None:
    """Print one line to standard output or error, with control characters escaped, behind a coloured `mark`."""
    click.echo((click.style(mark, fg=color or None) if mark else "") + escape_controls(line), err=err)


def wrapped(text: str, indent: str) -> str:
    """Return a text with an indent; on a terminal wrapped to its width."""
    if not sys.stdout.isatty():
        return indent + text
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
