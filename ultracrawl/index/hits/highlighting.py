"""Marks of matched words in snippets, and their conversion to HTML and plain text."""

from __future__ import annotations

import html
import re

START_MARK, END_MARK = "\x02", "\x03"
_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")


def as_html(snippet: str, before: str = "<mark>", after: str = "</mark>") -> str:
    """Return a snippet, or any other text of a document, as escaped HTML with markup in place of the marks."""
    return html.escape(snippet).replace(START_MARK, before).replace(END_MARK, after)


def as_line(text: str) -> str:
    """Return a text that is safe for a terminal: control characters become blanks."""
    return collapse_controls(text).strip()


def collapse_controls(text: str) -> str:
    """Return a text with each run of white space, control and bidirectional characters replaced by one blank."""
    return _CONTROLS.sub(" ", text)
