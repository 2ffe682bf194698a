"""Messages (RFC 5322, MIME): their decoded headers and parts, as far as broken ones can be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import copy
from email import message_from_bytes
from email.message import EmailMessage, Message
from email.policy import default
from itertools import islice
from typing import NamedTuple

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.charset.transfer import decode_base64, decode_uuencoded, readable_words

_LIMITS: tuple[tuple[re.Pattern[bytes], int], ...] = (
    (re.compile(rb"\n"), 300_000),
    (re.compile(rb"^--", re.MULTILINE), 20_000),
    (re.compile(rb"boundary\s*=", re.IGNORECASE), 50),
)
"""What makes parsing slow, and how often it may occur: lines, parts, and levels of parts."""
_BAD_HEADER = (ValueError, IndexError, AttributeError, TypeError, LookupError, ArithmeticError)
_LINE_END = re.compile(r"[\r\n]+")
_ENCODING = "Content-Transfer-Encoding"
_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64": decode_base64,
    **dict.fromkeys(("uuencode", "x-uuencode", "uue", "x-uue"), decode_uuencoded),
}
"""What decodes a Content-Transfer-Encoding. Quoted-printable is decoded leniently by Python."""


class MessagePart(NamedTuple):
    """A part of a message that is not made of parts."""

    part: Message
    name: str
    """The name of its file; empty if it has none."""
    is_attachment: bool
    repeats: bool
    """Whether it says in HTML what a part before it says in plain text."""

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
        """Whether it is a page."""
        return self.part.get_content_type() == "text/html"

    @property
    def text(self) -> str:
        """The content as text, in whatever charset it is."""
        return decode(self.body, self.content_type)[0]


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
        raw = _LINE_END.sub("", _raw_header(message, name))
        if not raw.isascii():
            raw = decode(raw.encode("utf-8", "surrogateescape"))[0]
        return str(default.header_factory(name, readable_words(raw)))
    except _BAD_HEADER:
        return _raw_header(message, name)


def parts_of(message: EmailMessage) -> Iterator[MessagePart]:
    """Yield the parts of a message, and of messages in it, in order."""
    has_plain_text: set[int] = set()
    parents = _parents(message)
    for part in message.walk():
        if part.is_multipart():
            continue
        parent, name = parents.get(id(part)), _file_name(part)
        is_text = part.get_content_maintype() == "text"
        alternative = parent is not None and parent.get_content_type() == "multipart/alternative"
        is_attachment = bool(name) or part.get_content_disposition() == "attachment" or not is_text
        found = MessagePart(part, name, is_attachment, alternative and id(parent) in has_plain_text)
        if alternative and not is_attachment and not found.is_html and found.text.strip():
            has_plain_text.add(id(parent))
        yield found


def _raw_header(message: Message, name: str) -> str:
    return str(next((value for key, value in message.raw_items() if key.lower() == name.lower()), ""))


def _parents(message: Message) -> dict[int, Message]:
    return {
        id(child): part
        for part in message.walk()
        if part.is_multipart()
        for child in part.iter_parts()  # type: ignore[attr-defined]  # the policy makes all parts EmailMessage
    }


def _file_name(part: Message) -> str:
    try:
        return part.get_filename() or ""
    except _BAD_HEADER:
        return ""
