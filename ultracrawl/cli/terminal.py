"""Output to a terminal, with control characters of crawled content escaped."""

from __future__ import annotations

import json
import logging
import shutil
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unicodedata import category

import click

from ultracrawl.model import status_text
from ultracrawl.model.status import http_status
from ultracrawl.system.nouns import counted

_CONTROL_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that move the cursor, change colours or text direction, or end a line."""


def escape_controls(text: str) -> str:
    """Return a text with control characters replaced by JSON escapes."""
    if text.isprintable():
        return text
    return "".join(json.dumps(char)[1:-1] if category(char) in _CONTROL_CATEGORIES else char for char in text)


class LineFormatter(logging.Formatter):
    """Formats each message as one line, whatever a site or a client has put into it; a traceback follows as it is."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging calls it
        """Return the line of a record."""
        record.message = escape_controls(record.message)
        return super().formatMessage(record)


def log_as_a_service() -> None:
    """Log what the service does to the standard error output."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    logging.basicConfig(handlers=[handler])
    logging.getLogger("ultracrawl").setLevel(logging.INFO)


_SILENT_SECONDS = 3.0
"""Seconds that a person waits without a word."""
_WORTH_SAYING = 120.0
"""Seconds of a crawl from which on it is said what makes it slow."""
_NOTICED = 0.2
"""Delays in seconds that are worth a word; below, the server decides how fast it goes."""
_MINUTES = 60


def described_status(code: int, *, verbose: bool = False) -> str:
    """Return a status code with its text; of the crawler's own ones the text alone unless `verbose`."""
    text = status_text(code)
    return f"{code} {text}" if verbose or http_status(code) else text


def print_line(line: str, *, mark: str = "", color: str = "", err: bool = False) -> None:
    """Print one line to standard output or error, with control characters escaped, behind a coloured `mark`."""
    click.echo((click.style(mark, fg=color or None) if mark else "") + escape_controls(line), err=err)


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """Say once on a terminal (on standard error) what is waited for, if the block takes some seconds."""
    if not (what and sys.stderr.isatty()):
        yield
        return
    timer = threading.Timer(_SILENT_SECONDS, print_line, [f"waiting for {what} …"], {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def wrapped(text: str, indent: str, *, first: str | None = None) -> str:
    """Return a text with an indent (its first line with `first`); on a terminal wrapped to its width."""
    begin = indent if first is None else first
    if not sys.stdout.isatty():
        return begin + text
    return textwrap.fill(
        text,
        shutil.get_terminal_size().columns,
        initial_indent=begin,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def rough_time(urls: int, delay: float) -> str:
    """Return how long requests for URLs of one site take, and what makes it shorter; empty if that is not long.

    `delay` is that between two requests, in seconds.
    """
    seconds = urls * delay
    if delay < _NOTICED or seconds < _WORTH_SAYING:
        return ""
    return f"about {_long(seconds)} at {_pace(delay)}; `--delay 0.1` for a server of your own"


def _long(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2 * _MINUTES:
        return counted(minutes, "minute")
    return counted(round(minutes / _MINUTES), "hour")


def _pace(delay: float) -> str:
    a_second = 1 / delay
    if a_second >= 1:
        return "one request a second" if a_second == 1 else f"{a_second:.2g} requests a second"
    return f"a request each {delay:g} seconds"
