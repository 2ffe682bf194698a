"""Messages (RFC 5322, MIME): their decoded headers and parts, as far as broken ones can be read."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, a2b_qp, a2b_uu, b2a_base64
from collections.abc import Callable, Iterator
from copy import copy
from email import message_from_bytes
from email.message import EmailMessage, Message
from email.policy import default
from itertools import count, groupby, islice
from typing import NamedTuple

from ultracrawl.content.charset.decoding import decode

_LIMITS: tuple[tuple[re.Pattern[bytes], int], ...] = (
    (re.compile(rb"\n"), 300_000),
    (re.compile(rb"^--", re.MULTILINE), 20_000),
    (re.compile(rb"boundary\s*=", re.IGNORECASE), 50),
)
"""What makes parsing slow, and how often it may occur: lines, parts, and levels of parts."""
_BAD_HEADER = (ValueError, IndexError, AttributeError, TypeError, LookupError, ArithmeticError)
_ENCODING = "Content-Transfer-Encoding"
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_GROUP = 4
_BEGIN = b"begin "
_WORD = r"=\?([^?*\s]{1,100})(?:\*[^?\s]{0,100})?\?([bq])\?([^?]*)\?="
_PAGES = ("text/html", "text/x-amp-html", "text/watch-html", "text/enriched", "text/richtext")
"""Texts with markup, the richest first. Readers of HTML leave out the elements of the last two, which they do not know.
"""
_CALENDAR = "text/calendar"
_PLAIN = len(_PAGES)
_CALENDAR_TEXT = re.compile(
    r"^(?:SUMMARY|LOCATION|DESCRIPTION|COMMENT)(?:;[^:\r\n]*)?:([^\r\n]*)", re.IGNORECASE | re.MULTILINE
)
_FOLD = re.compile(r"\r?\n[ \t]")
_CALENDAR_ESCAPE = re.compile(r"\\([nN])|\\(.)")


class MessagePart(NamedTuple):
    """A part of a message that is not made of parts."""

    part: Message
    name: str
    """The name of its file; empty if it has none."""
    is_attachment: bool
    choice: int
    """The number of the alternatives (`multipart/alternative`) that it is one of, or a part of one; 0: of none."""

    @property
    def body(self) -> bytes:
        """The decoded content, as far as it is whole."""
        decoded = _DECODERS.get(header_of(self.part, _ENCODING).strip().lower())
        part = self.part
        if decoded is not None:
            part = copy(part)
            del part[_ENCODING]  # of the copy alone: its payload are the bytes as they are encoded
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes):
            return b""
        return payload if decoded is None else decoded(payload)

    @property
    def content_type(self) -> str:
        """The Content-Type with its charset."""
        charset = self.part.get_content_charset()
        media_type = self.part.get_content_type()
        return f"{media_type}; charset={charset}" if charset else media_type

    @property
    def is_html(self) -> bool:
        """Whether it is a page, or can be read as one."""
        return self.part.get_content_type() in _PAGES

    @property
    def text(self) -> str:
        """The content as text, in whatever charset it is; of a calendar what is written for people."""
        text = decode(self.body, self.content_type)[0]
        return _calendar_text(text) if self.part.get_content_type() == _CALENDAR else text


def _calendar_text(text: str) -> str:
    """Return the titles, places and descriptions of a calendar (RFC 5545)."""
    values = _CALENDAR_TEXT.findall(_FOLD.sub("", text))
    return "\n\n".join(
        _CALENDAR_ESCAPE.sub(lambda found: "\n" if found[1] else found[2], value) for value in values
    )


def beginning_of(body: bytes, limit: int) -> bytes:
    """Return as much of a message, and at most so many bytes, as is parsed within seconds, whatever it is made of."""
    end = min(len(body), limit)
    for pattern, most in _LIMITS:
        beyond = next(islice(pattern.finditer(body, 0, end), most, None), None)
        end = end if beyond is None else beyond.start()
    return body[:end]


def read_message(body: bytes) -> EmailMessage:
    """Return the message that some bytes are; anything is one."""
    message = message_from_bytes(body, policy=default)
    assert isinstance(message, EmailMessage)
    return message


def header_of(message: Message, name: str) -> str:
    """Return a decoded header, or the raw one if decoding fails.

    The charset of non-ASCII bytes, which old programs write unencoded, is detected.
    """
    try:
        raw = _raw_header(message, name).replace("\r", "").replace("\n", "")
        if not raw.isascii():
            raw = decode(raw.encode("utf-8", "surrogateescape"))[0]
        return str(default.header_factory(name, readable_words(raw)))
    except _BAD_HEADER:
        return _raw_header(message, name)


def parts_of(message: EmailMessage) -> Iterator[MessagePart]:
    """Yield the parts of a message, and of messages in it, in order; of alternatives the richest first."""
    for choice, parts in groupby(_parts_in_order(message), lambda part: part.choice):
        in_order = list(parts)
        yield from sorted(in_order, key=_plainness) if choice else in_order


def _parts_in_order(message: Message) -> Iterator[MessagePart]:
    choices = count(1)
    waiting = [(message, 0)]
    while waiting:
        part, choice = waiting.pop()
        if part.is_multipart():
            if not choice and part.get_content_type() == "multipart/alternative":
                choice = next(choices)
            children: list[Message] = part.get_payload()  # type: ignore[assignment]  # it is made of parts
            children = _decoded_message(part, children)
            waiting.extend((child, choice) for child in reversed(children))
            continue
        name, is_text = _file_name(part), part.get_content_maintype() == "text"
        is_attachment = bool(name) or part.get_content_disposition() == "attachment" or not is_text
        yield MessagePart(part, name, is_attachment, choice)


def _decoded_message(part: Message, children: list[Message]) -> list[Message]:
    """Return the message in a part; of one that is encoded, which RFC 2046 forbids, the parser saw text."""
    decode_part = _DECODERS.get(header_of(part, _ENCODING).strip().lower())
    encoded = children[0].get_payload() if len(children) == 1 else None
    if decode_part is None or part.get_content_type() != "message/rfc822" or not isinstance(encoded, str):
        return children
    body = decode_part(encoded.encode("ascii", "ignore"))
    return [read_message(beginning_of(body, len(body)))] if body else children


def _plainness(part: MessagePart) -> int:
    """Return how little a part shows of what its sender wanted; attachments come last."""
    media_type = part.part.get_content_type()
    if part.is_attachment:
        return _PLAIN + 2
    return _PAGES.index(media_type) if part.is_html else _PLAIN + (media_type != "text/plain")


def _raw_header(message: Message, name: str) -> str:
    return str(next((value for key, value in message.raw_items() if key.lower() == name.lower()), ""))


def _file_name(part: Message) -> str:
    try:
        return part.get_filename() or ""
    except _BAD_HEADER:
        return ""


def decode_base64(data: bytes) -> bytes:
    """Decode base64 as far as it is whole. Raises nothing.

    Where a line has foreign characters, they stand in the place of others if its length is one of base64: the groups
    with them are lost, and no other. Else they are in between, and ignored (RFC 2045 6.8). A line with a blank in it is
    no base64; what follows the padding is something else.
    """
    lines = (line for line in map(bytes.strip, data.splitlines()) if line)
    joined, _, _ = b"".join(map(_whole_groups, lines)).partition(b"=")
    cut = len(joined) - (len(joined) % _GROUP == 1)
    return a2b_base64(joined[:cut] + b"=" * (-cut % _GROUP))


def _whole_groups(line: bytes) -> bytes:
    foreign = line.translate(None, _BASE64)
    if not foreign:
        return line
    if b" " in line or b"\t" in line:
        return b""
    if len(line) % _GROUP:
        rest = line.translate(None, foreign)
        return rest[: len(rest) // _GROUP * _GROUP]
    groups = (line[at : at + _GROUP] for at in range(0, len(line), _GROUP))
    return b"".join(group for group in groups if not group.translate(None, _BASE64))


def decode_uuencoded(data: bytes) -> bytes:
    """Decode the lines between `begin` and `end` that are whole; nothing without `begin`. Raises nothing."""
    decoded = list[bytes]()
    lines = iter(data.splitlines())
    for line in lines:
        if line.startswith(_BEGIN):
            break
    for line in lines:
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
    return re.sub(_WORD, _readable, header, flags=re.IGNORECASE) if "=?" in header else header


def _readable(word: re.Match[str]) -> str:
    charset, encoding, written = word.groups()
    data = written.encode("utf-8", "surrogateescape")
    data = decode_base64(data) if encoding in "bB" else a2b_qp(data, header=True)
    text, _ = decode(data, f"text/plain; charset={charset}")
    encoded = b2a_base64(text.encode("utf-8", "replace"), newline=False).decode()
    return f"=?utf-8?b?{encoded}?="


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64": decode_base64,
    **dict.fromkeys(("uuencode", "x-uuencode", "uue", "x-uue"), decode_uuencoded),
}
"""What decodes a Content-Transfer-Encoding. Quoted-printable is decoded leniently by Python."""
