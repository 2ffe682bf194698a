"""Splits mbox files (RFC 4155, and their dialects mboxo, mboxrd, mboxcl, mboxcl2) of any size into messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_CHUNK = 1 << 20
_LINE = 1100
"""Bytes that are at hand behind a place: more than the longest separator line."""
_DATE_BYTES = 128
"""Bytes at the end of a separator line in which its date is."""
_HEADER_BYTES = 1 << 16
"""Bytes of a message in which its header is looked for."""
_SEPARATOR = re.compile(rb"\nFrom [^\r\n]{0,998}\r?\n")
_DATE = re.compile(
    rb"""(?:\b(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ \t,.-]+[\d \t,.-]*|\b\d{4}-\d\d-\d\d[ \tT]+)
    \d{1,2}:[ ]?\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?
    (?:[ \t]+(?:[+-]\d\d:?\d\d|\(?[A-Z]{1,5}(?:[+-]\d{1,4})?\)?|\d{2,4}))*
    [ \t]*(?:remote[ ]from[ ].*)?\r?\n""",
    re.VERBOSE,
)
"""A date with a time at the end of a line, in whatever order its parts are."""
_YEAR = re.compile(rb"\b(?:19|20)\d\d\b")
_FIELD = re.compile(
    rb"(?:return-path|received|delivered-to|envelope-to|from|sender|reply-to|to|cc|date|subject|message-id"
    rb"|mime-version|in-reply-to|references|status|path|newsgroups|xref|dkim-signature|authentication-results"
    rb"|(?:x|content|list|resent|arc)-[a-z-]{1,100})[ \t]*:",
    re.IGNORECASE,
)
"""A field of a header, as it follows a separator without a date; any text may have a line like `Note: ...`."""
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_END_OF_HEADER = re.compile(rb"\n\r?\n")
_LINE_ENDS = re.compile(rb"(?:\r?\n){0,2}")
_BLANK_LINE = (b"\n\n", b"\n\r\n")

ReadAt = Callable[[int, int], bytes]
"""Returns so many bytes from an offset on, fewer at the end only, as `os.pread` does for files."""


class _Line(NamedTuple):
    """A separator."""

    start: int
    """Where its `From ` is."""
    end: int


def message_spans(read_at: ReadAt) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each message; only one chunk is kept in memory.

    A separator is a line `From ` at the beginning, or one after a blank line with a date at its end, or with a field
    of a header in the line after it. If the Content-Length of a message leads to a separator or to the end of the
    mailbox, its text has none.
    """
    mailbox = _Mailbox(read_at)
    line = mailbox.first_separator()
    while line is not None:
        following = mailbox.next_separator(mailbox.end_by_length(line.end) or line.end)
        yield line.end, mailbox.size if following is None else following.start
        line = following


class _Mailbox:
    """A mailbox of which one chunk is in memory."""

    def __init__(self, read_at: ReadAt) -> None:
        self._read_at = read_at
        self._chunk = b""
        self._position = 0
        self.size = 0
        """Bytes; known when there is no next separator."""

    def first_separator(self) -> _Line | None:
        """Return the first separator; `From ` at the beginning is one, whatever follows."""
        line = _SEPARATOR.match(b"\n" + self._read_at(0, _LINE))
        return self.next_separator(0) if line is None else _Line(0, line.end() - 1)

    def next_separator(self, at: int) -> _Line | None:
        """Return the first separator whose `From ` is not before a place."""
        at = max(at - 1, 0)  # the end of the line before is part of the pattern
        while True:
            self._load(at)
            for line in _SEPARATOR.finditer(self._chunk, at - self._position):
                found = _Line(self._position + line.start() + 1, self._position + line.end())
                if self._is_separator(found):
                    return found
            end = self._position + len(self._chunk)
            if len(self._chunk) < _CHUNK:
                self.size = end
                return None
            at = end - _LINE

    def end_by_length(self, start: int) -> int | None:
        """Return where the message that starts there ends, if its Content-Length is right; None if not."""
        header = self._bytes_at(start, _HEADER_BYTES)
        end = _END_OF_HEADER.search(header)
        length = _LENGTH.search(header, 0, end.start() + 1) if end else None
        if end is None or length is None:
            return None
        place = start + end.end() + int(length[1])
        behind = self._bytes_at(place, _LINE)
        ends = _LINE_ENDS.match(behind)
        at = ends.end() if ends else 0
        if at == len(behind):
            return place if self._bytes_at(place - 1, 1) else None
        line = _SEPARATOR.match(b"\n" + behind[at:])
        found = line and _Line(place + at, place + at + line.end() - 1)
        return found.start if found and self._is_separator(found) else None

    def _is_separator(self, line: _Line) -> bool:
        before = b"\n\n\n" + self._bytes_at(max(line.start - 3, 0), min(line.start, 3))
        if not before.endswith(_BLANK_LINE):
            return False
        end = self._bytes_at(max(line.start, line.end - _DATE_BYTES), min(line.end - line.start, _DATE_BYTES))
        if _YEAR.search(end) and _DATE.search(end):
            return True
        return _FIELD.match(self._bytes_at(line.end, _LINE)) is not None

    def _load(self, at: int) -> None:
        """Have a chunk in memory that begins before a place, and reaches far enough behind it."""
        end = self._position + len(self._chunk)
        if not self._position <= at < end - _LINE:
            self._position, self._chunk = at, self._read_at(at, _CHUNK)

    def _bytes_at(self, at: int, size: int) -> bytes:
        begin = at - self._position
        if begin >= 0 and begin + size <= len(self._chunk):
            return self._chunk[begin : begin + size]
        return self._read_at(at, size)
