"""Lines for people, in which nothing that came from a site steers a terminal."""

from __future__ import annotations

import json
from unicodedata import category

import click

_STEERING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of characters that move the cursor, change colours or the direction of writing, or end a line."""


def shown(text: str) -> str:
    """Return a text as it may be shown: what steers a terminal is written as an escape of JSON."""
    if text.isprintable():
        return text
    return "".join(json.dumps(one)[1:-1] if category(one) in _STEERING else one for one in text)


def tell(line: str, *, err: bool = False) -> None:
    """Print one line to standard output, or to standard error."""
    click.echo(shown(line), err=err)
