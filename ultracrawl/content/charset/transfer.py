"""Decodes what mails write in ASCII: base64, uuencode, words in headers. What is whole is decoded, the rest dropped."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, a2b_qp, a2b_uu, b2a_base64

from ultracrawl.content.charset.decoding import decode

_FOREIGN = re.compile(rb"[^A-Za-z0-9+/=]+")
_GROUP = 4
_END = re.compile(rb"=|\Z")
_UU_BEGIN = re.compile(rb"^begin\s+\d{3,4}\b[^\n]*\n", re.MULTILINE)
_WORD = re.compile(r"=\?([^?*\s]{1,100})(?:\*[^?\s]{0,100})?\?([bq])\?([^?]*)\?=", re.IGNORECASE)


def decode_base64(data: bytes) -> bytes:
    """Decode base64 as far as it is whole. Raises nothing.

    Where a line has foreign characters, they stand in the place of others if its length is one of base64: the groups
    with them are lost, and no other. Else they are in between, and ignored (RFC 2045 6.8). A line with a blank in it is
    no base64; what follows the padding is something else.
    """
    lines = [line for line in map(bytes.strip, data.splitlines()) if line]
    if any(_FOREIGN.search(line) for line in lines):
        lines = [_whole_groups(line) if _FOREIGN.search(line) else line for line in lines]
    joined = b"".join(lines)
    end = _END.search(joined)
    joined = joined[: end.start()] if end else joined
    cut = len(joined) - (len(joined) % _GROUP == 1)
    return a2b_base64(joined[:cut] + b"=" * (-cut % _GROUP))


def _whole_groups(line: bytes) -> bytes:
    if b" " in line or b"\t" in line:
        return b""
    if len(line) % _GROUP:
        rest = _FOREIGN.sub(b"", line)
        return rest[: len(rest) // _GROUP * _GROUP]
    groups = (line[at : at + _GROUP] for at in range(0, len(line), _GROUP))
    return b"".join(group for group in groups if not _FOREIGN.search(group))


def decode_uuencoded(data: bytes) -> bytes:
    """Decode the lines between `begin` and `end` that are whole; nothing without `begin`. Raises nothing."""
    begin = _UU_BEGIN.search(data)
    if begin is None:
        return b""
    decoded = list[bytes]()
    for line in data[begin.end() :].splitlines():
        if line.strip() == b"end":
            break
        # The first character is the number of bytes; some programs write characters behind them, or strip blanks.
        number = (line[0] - 32) & 63 if line else 0
        size = (number * 4 + 5) // 3
        try:
            decoded.append(a2b_uu(line[: 1 + size].ljust(1 + size)))
        except Error:
            continue
    return b"".join(decoded)


def readable_words(header: str) -> str:
    """Return a header whose encoded words (RFC 2047) are all whole, and in UTF-8."""
    return _WORD.sub(_readable, header) if "=?" in header else header


def _readable(word: re.Match[str]) -> str:
    charset, encoding, written = word.groups()
    data = written.encode("utf-8", "surrogateescape")
    data = decode_base64(data) if encoding in "bB" else a2b_qp(data, header=True)
    text, _ = decode(data, f"text/plain; charset={charset}")
    encoded = b2a_base64(text.encode("utf-8", "replace"), newline=False).decode()
    return f"=?utf-8?b?{encoded}?="
