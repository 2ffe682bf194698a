"""Converter for messages saved by Outlook (.msg)."""

from __future__ import annotations

import codecs
import io
from datetime import datetime

import oxmsg

from ultracrawl.content.converters.alternatives import Said
from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.convert import add_member, read_html
from ultracrawl.model.dates import iso_date

_BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError)

_UNSET_YEAR = 1601
"""The year of the time 0."""
_OUT_OF_RANGE = "out of range"
"""Stands for a date that cannot be, and is dropped as such where a date is wanted."""


def _codec_of_windows(name: str) -> codecs.CodecInfo | None:
    """Return a codec by a name of Windows that Python does not know: it calls `windows-950` `cp950`."""
    number = name.removeprefix("windows").lstrip("_-")
    return codecs.lookup(f"cp{number}") if name.startswith("windows") and number in _CODEPAGES else None


_CODEPAGES = frozenset({"874", "932", "936", "949", "950"})
codecs.register(_codec_of_windows)


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
