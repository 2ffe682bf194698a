"""Messages of mbox files, each a document: their names, and their offsets in the file."""

from __future__ import annotations

import errno
import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from email.parser import BytesHeaderParser
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple

from ultracrawl.agents.port import Entry
from ultracrawl.content.mailboxes import message_spans
from ultracrawl.model.dates import epoch, parse_http_date

MAIL_TYPE = "message/rfc822"
"""The media type of a message."""
MAX_MESSAGES = 1_000_000
"""Messages that are read from a mailbox; a mailbox with more is taken for an attack."""
_BLOCK_SIZE = 1 << 20
_NAME_BYTES = 12
_OFFSET_BYTES = 8
_ROW_BYTES = _NAME_BYTES + 2 * _OFFSET_BYTES
_MAX_TABLES = 8
_MAX_ATTEMPTS = 3
_END_OF_HEADER = re.compile(rb"\n\r?\n")
_MESSAGE_ID = re.compile(rb"^message-id:\s*([^\s][^\r\n]*)", re.IGNORECASE | re.MULTILINE)


class Message(NamedTuple):
    """A message of a mailbox."""

    name: bytes
    """Identifies the message wherever it is in the mailbox: a hash of its Message-ID, or of the message if it has none.
    """
    start: int
    size: int
    checksum: str = ""


def is_mailbox(file: int) -> bool:
    """Whether an open file begins with an mbox `From ` line."""
    return os.pread(file, 5, 0) == b"From "


def messages_of(file: int) -> Iterator[Message]:
    """Yield the messages of an open mailbox; all again if it was modified meanwhile. Raises `OSError`."""
    for _ in range(_MAX_ATTEMPTS):
        before = _state(file)
        spans = message_spans(lambda at, size: os.pread(file, size, at))
        for number, (start, end) in enumerate(spans):
            if number >= MAX_MESSAGES:
                raise OSError(errno.EFBIG, f"only its first {MAX_MESSAGES} messages are read")
            yield _message(file, start, end)
        if _state(file) == before:
            return
    raise BlockingIOError(errno.EAGAIN, "it changed each time it was read")


def _state(file: int) -> tuple[int, ...]:
    file_stat = os.fstat(file)
    return file_stat.st_dev, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns


def _message(file: int, start: int, end: int) -> Message:
    checksum, first_block = blake2b(digest_size=_NAME_BYTES), b""
    for offset in range(start, end, _BLOCK_SIZE):
        block = os.pread(file, min(_BLOCK_SIZE, end - offset), offset)
        first_block = first_block or block
        checksum.update(block.rstrip(b"\r\n") if offset + _BLOCK_SIZE >= end else block)
    header_end = _END_OF_HEADER.search(first_block)
    message_id = _MESSAGE_ID.search(first_block, 0, header_end.start() if header_end else len(first_block))
    name = (
        blake2b(message_id[1].strip(), digest_size=_NAME_BYTES).digest() if message_id else checksum.digest()
    )
    return Message(name, start, end - start, checksum.hexdigest())


def message_entry(entry: Entry, body: bytes) -> Entry:
    """Return the entry of a message with its body and its date; without one after 1970 that of the entry stays."""
    header = BytesHeaderParser().parsebytes(body[:_BLOCK_SIZE])["Date"]
    date = epoch(parse_http_date(str(header)))
    return replace(entry, body=body, last_modified=date if date > 0 else entry.last_modified)


class MessageTables:
    """The message offsets of the mailboxes read last: for each a table sorted by name, 28 bytes per message."""

    def __init__(self) -> None:
        self._tables: dict[tuple[int, ...], bytes] = {}
        self._lock = Lock()

    def find_message(self, file: int, name: str) -> Message | None:
        """Return a message of an open mailbox, without its checksum; None if there is none. Raises `OSError`."""
        table = self._table(file)
        try:
            wanted = bytes.fromhex(name)
        except ValueError:
            return None
        rows = range(0, len(table), _ROW_BYTES)
        position = bisect_right(rows, wanted, key=lambda row: table[row : row + _NAME_BYTES])
        row = table[(position - 1) * _ROW_BYTES : position * _ROW_BYTES] if position else b""
        if row[:_NAME_BYTES] != wanted or not row:
            return None
        start = int.from_bytes(row[_NAME_BYTES:-_OFFSET_BYTES])
        return Message(wanted, start, int.from_bytes(row[-_OFFSET_BYTES:]))

    def _table(self, file: int) -> bytes:
        key = _state(file)
        with self._lock:
            if key not in self._tables:
                rows = sorted(
                    message.name
                    + message.start.to_bytes(_OFFSET_BYTES)
                    + message.size.to_bytes(_OFFSET_BYTES)
                    for message in messages_of(file)
                )
                if len(self._tables) >= _MAX_TABLES:
                    del self._tables[next(iter(self._tables))]
                self._tables[key] = b"".join(rows)
            return self._tables[key]
