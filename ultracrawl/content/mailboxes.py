"""Splits mbox files (RFC 4155) of any size into messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_CHUNK = 1 << 20
_OVERLAP = 1100
"""Bytes that are searched again with the next chunk: more than the longest separator line."""
_SEPARATOR = re.compile(rb"\nFrom [^\r\n]{0,998}\r?\n")
_BLANK_LINE = (b"\n\n", b"\n\r\n")


def message_spans(read: Callable[[int], bytes]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each message in the chunks of `read`; only one chunk is kept in memory."""
    data, position = b"\n\n", -2  # as if the file started with a blank line
    begun, last = -1, -3
    while chunk := read(_CHUNK):
        data += chunk
        for line in _SEPARATOR.finditer(data):
            at = position + line.start()
            if at <= last or not data.endswith(_BLANK_LINE, 0, line.start() + 1):
                continue
            if begun >= 0:
                yield begun, at + 1
            last, begun = at, position + line.end()
        passed = max(len(data) - _OVERLAP, 0)
        data, position = data[passed:], position + passed
    if begun >= 0:
        yield begun, position + len(data)
