"""Converter for e-mail: single messages (RFC 5322, MIME) and mailboxes (mbox, RFC 4155)."""

from __future__ import annotations

import re
from contextlib import suppress
from email import message_from_bytes
from email.message import EmailMessage, Message
from email.policy import default
from email.utils import parsedate_to_datetime
from io import BytesIO

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.convert import add_html, add_member
from ultracrawl.content.mailboxes import message_spans
from ultracrawl.model.dates import iso_date

_HEADER = re.compile(rb"[!-9;-~]{1,100}:")
_NAMES = {"from": "author", "to": "to", "cc": "cc", "message-id": "message_id", "list-id": "list_id"}
_BAD_HEADER = (ValueError, IndexError, AttributeError, TypeError, LookupError)


def convert(source: Source, sink: Sink) -> None:
    """Convert headers, text and attachments of a message, or of all messages of a mailbox."""
    if source.media_type == "application/mbox" or source.body.startswith(b"From "):
        _read_mailbox(source.body, sink)
    elif _HEADER.match(source.body.lstrip()) is None:
        raise ConversionError("this is not an e-mail message: it does not begin with a header")
    else:
        _read_message(source.body, sink)


def _read_mailbox(body: bytes, sink: Sink) -> None:
    count = 0
    for start, end in message_spans(BytesIO(body).read):
        count += 1
        sink.budget.take_member()
        inner = sink.inner()
        _read_message(body[start:end], inner)
        sink.meta("author", *inner.metadata.get("author", ()))
    sink.meta("messages", str(count))


def _read_message(body: bytes, sink: Sink) -> None:
    message = message_from_bytes(body, policy=default)
    assert isinstance(message, EmailMessage)
    subject = _header(message, "Subject")
    sink.set_title(subject)
    sink.meta("subject", subject)
    for name, our_name in _NAMES.items():
        sink.meta(our_name, _header(message, name))
    sink.meta("references", *_header(message, "References").split())
    sink.set_language(_header(message, "Content-Language"))
    with suppress(ValueError, TypeError, OverflowError):
        sink.meta("created", iso_date(parsedate_to_datetime(_header(message, "Date"))))
    if sink.depth:
        sink.add(subject)
    _read_parts(message, sink)


def _header(message: EmailMessage, name: str) -> str:
    """Return a decoded header, or the raw one if decoding fails.

    The charset of non-ASCII bytes, which old programs write unencoded, is detected.
    """
    try:
        text = str(message.get(name, ""))
        if "\ufffd" not in text:
            return text
        raw = _raw_header(message, name)
        return str(default.header_factory(name, decode(raw.encode("ascii", "surrogateescape"))[0]))
    except _BAD_HEADER:
        return _raw_header(message, name)


def _raw_header(message: EmailMessage, name: str) -> str:
    return str(next((value for key, value in message.raw_items() if key.lower() == name.lower()), ""))


def _read_parts(message: EmailMessage, sink: Sink) -> None:
    """Convert the text parts (of alternatives the plain one), and attachments with their own converters."""
    has_plain_text: set[int] = set()
    parents = _parents(message)
    for part in message.walk():
        parent = parents.get(id(part))
        if part.is_multipart():
            continue
        sink.budget.take_member()
        name = _file_name(part)
        alternative = parent is not None and parent.get_content_type() == "multipart/alternative"
        if name or part.get_content_disposition() == "attachment" or part.get_content_maintype() != "text":
            _read_attachment(part, name, sink)
        elif part.get_content_type() == "text/html":
            only_links = alternative and id(parent) in has_plain_text
            add_html(_payload(part), sink.inner(), _content_type(part), only_links=only_links)
        else:
            text, _ = decode(_payload(part), _content_type(part))
            sink.add(text)
            if parent is not None and text.strip():
                has_plain_text.add(id(parent))


def _parents(message: Message) -> dict[int, Message]:
    return {
        id(child): part
        for part in message.walk()
        if part.is_multipart()
        for child in part.iter_parts()  # type: ignore[attr-defined]  # the policy makes all parts EmailMessage
    }


def _read_attachment(part: Message, name: str, sink: Sink) -> None:
    sink.meta("attachments", name)
    body = _payload(part)
    if body:
        add_member(Source(body, part.get_content_type(), _content_type(part), name), sink)


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _file_name(part: Message) -> str:
    try:
        return part.get_filename() or ""
    except _BAD_HEADER:
        return ""


def _content_type(part: Message) -> str:
    """Return the Content-Type with its charset."""
    charset = part.get_content_charset()
    return f"{part.get_content_type()}; charset={charset}" if charset else part.get_content_type()
