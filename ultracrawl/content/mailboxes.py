"""Mailboxes of the kind mbox (RFC 4155): where their messages are, however large they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_CHUNK = 1 << 20
_KEPT = 1100
"""Bytes that are looked at again together with the next ones: more than a line between messages has."""
_SEPARATOR = re.compile(rb"\nFrom [^\r\n]{0,998}\r?\n")
_BLANK_LINE = (b"\n\n", b"\n\r\n")


def message_spans(read: Callable[[int], bytes]) -> Iterator[tuple[int, int]]:
    """Yield where each message begins and ends in what `read` returns piece by piece; memory is that of a piece."""
    data, position = b"\n\n", -2  # as if a blank line stood before the beginning
    begun, last = -1, -3
    while piece := read(_CHUNK):
        data += piece
        for line in _SEPARATOR.finditer(data):
            at = position + line.start()
            if at <= last or not data.endswith(_BLANK_LINE, 0, line.start() + 1):
                continue
            if begun >= 0:
                yield begun, at + 1
            last, begun = at, position + line.end()
        passed = max(len(data) - _KEPT, 0)
        data, position = data[passed:], position + passed
    if begun >= 0:
        yield begun, position + len(data)
