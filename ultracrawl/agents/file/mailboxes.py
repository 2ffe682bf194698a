"""Messages of mailboxes, each a document of its own: what they are called, and where they are."""

from __future__ import annotations

import errno
import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from email.parser import BytesHeaderParser
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple

from ultracrawl.agents.port import Entry
from ultracrawl.content.mailboxes import message_spans

MAIL = "message/rfc822"
"""The media type of a message."""
MOST_MESSAGES = 1_000_000
"""Messages that are read of a mailbox: a larger one was made to be endless."""
_PIECE = 1 << 20
_NAME_BYTES = 12
_PLACE_BYTES = 8
_ROW = _NAME_BYTES + 2 * _PLACE_BYTES
_MOST_TABLES = 8
_TRIES = 3
_END_OF_HEADER = re.compile(rb"\n\r?\n")
_MESSAGE_ID = re.compile(rb"^message-id:\s*([^\s][^\r\n]*)", re.IGNORECASE | re.MULTILINE)


class Message(NamedTuple):
    """A message of a mailbox."""

    name: bytes
    """Tells it from the others wherever it stands: a checksum of its Message-ID, without one of itself."""
    start: int
    size: int
    checksum: str = ""


def is_mailbox(file: int) -> bool:
    """Whether an open file begins as mailboxes do."""
    return os.pread(file, 5, 0) == b"From "


def messages_of(file: int) -> Iterator[Message]:
    """Yield the messages of an open mailbox; again, if it is written meanwhile. Raises `OSError`."""
    for _ in range(_TRIES):
        before = _state(file)
        with open(file, "rb", buffering=0, closefd=False) as pieces:
            pieces.seek(0)
            for number, (start, end) in enumerate(message_spans(pieces.read)):
                if number >= MOST_MESSAGES:
                    raise OSError(errno.EFBIG, f"only its first {MOST_MESSAGES} messages are read")
                yield _message(file, start, end)
        if _state(file) == before:
            return
    raise BlockingIOError(errno.EAGAIN, "it is written all the time")


def _state(file: int) -> tuple[int, ...]:
    about = os.fstat(file)
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def _message(file: int, start: int, end: int) -> Message:
    whole, header = blake2b(digest_size=_NAME_BYTES), b""
    for at in range(start, end, _PIECE):
        piece = os.pread(file, min(_PIECE, end - at), at)
        header = header or piece
        whole.update(piece.rstrip(b"\r\n") if at + _PIECE >= end else piece)
    ending = _END_OF_HEADER.search(header)
    said = _MESSAGE_ID.search(header, 0, ending.start() if ending else len(header))
    name = blake2b(said[1].strip(), digest_size=_NAME_BYTES).digest() if said else whole.digest()
    return Message(name, start, end - start, whole.hexdigest())


def message_entry(entry: Entry, body: bytes) -> Entry:
    """Return the entry of a message with its body and its date."""
    try:
        said = BytesHeaderParser().parsebytes(body[:_PIECE])["Date"]
        date = parsedate_to_datetime(str(said)).timestamp()
    except (ValueError, TypeError, LookupError, OverflowError, OSError):
        date = entry.last_modified
    return replace(entry, body=body, last_modified=max(date, 0.0))


class MessageTables:
    """Where messages are in the mailboxes that were read last: 28 bytes a message."""

    def __init__(self) -> None:
        self._tables: dict[tuple[int, ...], bytes] = {}
        self._lock = Lock()

    def place(self, file: int, name: str) -> Message | None:
        """Return a message of an open mailbox, without its checksum; None if it is not there. Raises `OSError`."""
        table = self._table(file)
        try:
            wanted = bytes.fromhex(name)
        except ValueError:
            return None
        rows = range(0, len(table), _ROW)
        found = bisect_right(rows, wanted, key=lambda row: table[row : row + _NAME_BYTES])
        row = table[(found - 1) * _ROW : found * _ROW] if found else b""
        if row[:_NAME_BYTES] != wanted or not row:
            return None
        start = int.from_bytes(row[_NAME_BYTES:-_PLACE_BYTES])
        return Message(wanted, start, int.from_bytes(row[-_PLACE_BYTES:]))

    def _table(self, file: int) -> bytes:
        key = _state(file)
        with self._lock:
            if key not in self._tables:
                rows = sorted(
                    one.name + one.start.to_bytes(_PLACE_BYTES) + one.size.to_bytes(_PLACE_BYTES)
                    for one in messages_of(file)
                )
                if len(self._tables) >= _MOST_TABLES:
                    del self._tables[next(iter(self._tables))]
                self._tables[key] = b"".join(rows)
            return self._tables[key]
