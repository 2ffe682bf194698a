"""Parses the responses of IMAP servers to SEARCH and FETCH, in the form in which `imaplib` returns them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ultracrawl.model.dates import epoch, parse_http_date

Data = Sequence[bytes | tuple[bytes, bytes] | None]

_START = re.compile(rb"\d+ \(")
_UID = re.compile(rb"\bUID (\d{1,10})\b")
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d{1,18})\b")
_TIME = re.compile(rb'\bINTERNALDATE "\s?(\d{1,2})-(\w{3})-(\d{4}) (\d\d:\d\d:\d\d) ([+-]\d{4})"')
_QUOTED_BODY = re.compile(rb'\bBODY\[[^\]]*\](?:<\d+>)? (?:"((?:[^"\\]|\\.)*)"|NIL)', re.IGNORECASE)
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)


class FetchedMail(NamedTuple):
    """A mail, or a part of it."""

    uid: int
    size: int
    """Bytes of the whole mail."""
    received: float
    """When the server received it, in seconds since 1970; 0 if unknown."""
    body: bytes


def parse_uids(data: Data) -> list[int]:
    """Return the UIDs of a SEARCH response."""
    return [
        int(uid)
        for line in data
        if isinstance(line, bytes)
        for uid in line.split()
        if uid.isdigit() and len(uid) <= 10
    ]


def to_uid_set(uids: Iterable[int]) -> str:
    """Return UIDs as a sequence set, with ranges: `1:4,7`."""
    ranges = list[list[int]]()
    for uid in sorted(set(uids)):
        if ranges and uid == ranges[-1][1] + 1:
            ranges[-1][1] = uid
        else:
            ranges.append([uid, uid])
    return ",".join(str(first) if first == last else f"{first}:{last}" for first, last in ranges)


def parse_fetched(data: Data) -> Iterator[FetchedMail]:
    """Yield the mails of FETCH responses; responses without UID or BODY, which tell changed flags, are left out."""
    text, body = b"", None
    for part in data:
        head, literal = part if isinstance(part, tuple) else (part or b"", None)
        if _START.match(head) and text:
            yield from _mail(text, body)
            text, body = b"", None
        text += head
        body = literal if literal is not None else body
    yield from _mail(text, body)


def _mail(text: bytes, literal: bytes | None) -> Iterator[FetchedMail]:
    uid, body = _UID.search(text), literal
    if body is None:
        quoted = _QUOTED_BODY.search(text)
        body = None if quoted is None else _ESCAPED.sub(rb"\1", quoted[1] or b"")
    if uid is not None and body is not None:
        size = _SIZE.search(text)
        yield FetchedMail(int(uid[1]), int(size[1]) if size else len(body), _received(text), body)


def _received(text: bytes) -> float:
    found = _TIME.search(text)
    return max(0.0, epoch(parse_http_date(b" ".join(found.groups()).decode()))) if found else 0.0
