"""Converter for messages saved by Outlook (.msg)."""

from __future__ import annotations

import io
from datetime import datetime

import oxmsg

from ultracrawl.content.converters.alternatives import Said
from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.convert import add_member, read_html
from ultracrawl.model.dates import iso_date

_BROKEN = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError)

_UNSET_YEAR = 1601
"""The year of the time 0."""
_OUT_OF_RANGE = "out of range"
"""Stands for a date that cannot be, and is dropped as such where a date is wanted."""


def convert(source: Source, sink: Sink) -> None:
    """Convert subject, sender, recipients, date, text and attachments."""
    try:
        message = oxmsg.Message.load(io.BytesIO(source.body))
        _read_head(message, sink)
        _read_body(message, sink)
        attachments = [(file.file_name or "", file.file_bytes or b"") for file in message.attachments]
    except _BROKEN as error:
        raise ConversionError(f"broken Outlook message: {error}") from None
    for name, body in attachments:
        sink.meta("attachments", name)
        if body:
            add_member(Source(body, "", name=name), sink)


def _read_head(message: oxmsg.Message, sink: Sink) -> None:
    subject = message.subject or ""
    sink.set_title(subject)
    sink.meta("subject", subject)
    sink.meta("author", message.sender or "")
    sink.meta("to", *(f"{recipient.name} <{recipient.email_address}>" for recipient in message.recipients))
    sink.meta("created", _sent(message))


def _sent(message: oxmsg.Message) -> str:
    try:
        sent = message.sent_date
    except OverflowError:
        return _OUT_OF_RANGE
    return iso_date(sent) if isinstance(sent, datetime) and sent.year > _UNSET_YEAR else ""


def _read_body(message: oxmsg.Message, sink: Sink) -> None:
    said, html = Said(), (message.html_body or "").encode("utf-8", "replace")
    sink.add(said.rest_of(read_html(html, sink.inner(), "text/html; charset=utf-8")))
    sink.add(said.rest_of(message.body or ""))
