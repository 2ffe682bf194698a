"""Converter for e-mail: single messages (RFC 5322, MIME) and mailboxes (mbox, RFC 4155)."""

from __future__ import annotations

import re
from email.message import EmailMessage

from ultracrawl.content.converters.alternatives import Said
from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.convert import add_member, read_html
from ultracrawl.content.converters.registry import converter_for
from ultracrawl.content.mailboxes import message_spans
from ultracrawl.content.messages import MessagePart, header_of, parts_of, read_message
from ultracrawl.model.dates import date_text

_HEADER = re.compile(rb"[!-9;-~]{1,100}:")
_NAMES = {"from": "author", "to": "to", "cc": "cc", "message-id": "message_id", "list-id": "list_id"}


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
    for start, end in message_spans(lambda at, size: body[at : at + size]):
        count += 1
        sink.budget.take_member()
        inner = sink.inner()
        _read_message(body[start:end], inner)
        sink.meta("author", *inner.metadata.get("author", ()))
    sink.meta("messages", str(count))


def _read_message(body: bytes, sink: Sink) -> None:
    message = read_message(body)
    subject = header_of(message, "Subject")
    sink.set_title(subject)
    sink.meta("subject", subject)
    for name, our_name in _NAMES.items():
        sink.meta(our_name, header_of(message, name))
    sink.meta("references", *header_of(message, "References").split())
    sink.set_language(header_of(message, "Content-Language"))
    sink.meta("created", date_text(header_of(message, "Date")))
    if sink.depth:
        sink.add(subject)
    _read_parts(message, sink)


def _read_parts(message: EmailMessage, sink: Sink) -> None:
    """Convert the texts, and attachments with their own converters; alternatives are one text, the richest first."""
    said, choice = Said(), 0
    for part in parts_of(message):
        sink.budget.take_member()
        if part.choice != choice:
            said, choice = Said(), part.choice
        if part.is_attachment or (_has_converter(part) and not choice):
            _add_attachment(part, sink)
            continue
        text = _text_of(part, sink)
        sink.add(said.rest_of(text) if choice else text)


def _text_of(part: MessagePart, sink: Sink) -> str:
    """Return the text of a part that is none of the attachments."""
    if _has_converter(part):
        texts = list[str]()
        _add_attachment(part, sink.inner(texts.append))
        return " ".join(texts)
    return read_html(part.body, sink.inner(), part.content_type) if part.is_html else part.text


def _has_converter(part: MessagePart) -> bool:
    """Return whether a text is one of a format of its own, such as RTF."""
    return not part.is_html and converter_for(part.part.get_content_type()) is not None


def _add_attachment(part: MessagePart, sink: Sink) -> None:
    sink.meta("attachments", part.name)
    if body := part.body:
        add_member(Source(body, part.part.get_content_type(), part.content_type, part.name), sink)
