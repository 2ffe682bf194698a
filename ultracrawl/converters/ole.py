"""Properties and links of documents in OLE compound files: the formats of Office before 2007."""

from __future__ import annotations

import io
from contextlib import closing
from datetime import datetime

import olefile

from ultracrawl.content.encodings import FALLBACK, codec_of
from ultracrawl.converters.dates import iso_date
from ultracrawl.converters.errors import ConversionError
from ultracrawl.converters.olelinks import STREAMS
from ultracrawl.converters.sink import Sink

_TEXTS = {
    "author": "author",
    "subject": "subject",
    "comments": "description",
    "last_saved_by": "last_modified_by",
    "creating_application": "application",
    "company": "company",
    "manager": "manager",
    "category": "category",
}
_BROKEN = (OSError, ValueError, IndexError, TypeError, AttributeError)


def read_ole(body: bytes, sink: Sink) -> None:
    """Read summary streams and links. Raises `ConversionError` for a file that is no compound file or encrypted."""
    try:
        with closing(olefile.OleFileIO(io.BytesIO(body))) as file:
            if file.exists("EncryptedPackage"):
                raise ConversionError("the document is encrypted")
            found = file.get_metadata()
            _read_links(file, sink)
    except ConversionError:
        raise
    except _BROKEN as error:
        raise ConversionError(f"broken compound file: {error}") from None
    _take(found, sink)


def _read_links(file: olefile.OleFileIO, sink: Sink) -> None:
    for name, links_in in STREAMS.items():
        if file.exists(name):
            with file.openstream(name) as stream:
                for link in links_in(stream.read()):
                    sink.link(link)


def _take(found: olefile.OleMetadata, sink: Sink) -> None:
    codec = codec_of(f"cp{found.codepage}") if isinstance(found.codepage, int) else ""
    codec = "utf-8" if found.codepage == 65001 else codec or FALLBACK
    sink.set_title(_text(found.title, codec))
    sink.keywords(_text(found.keywords, codec))
    for name, ours in _TEXTS.items():
        sink.meta(ours, _text(getattr(found, name, None), codec))
    for name, ours in (("create_time", "created"), ("last_saved_time", "modified")):
        moment = getattr(found, name, None)
        if isinstance(moment, datetime) and moment.year > 1601:
            sink.meta(ours, iso_date(moment))
    for name, ours in (("num_pages", "pages"), ("slides", "pages"), ("num_words", "words")):
        number = getattr(found, name, None)
        if isinstance(number, int) and number > 0:
            sink.meta(ours, str(number))


def _text(value: object, codec: str) -> str:
    if isinstance(value, bytes):
        return value.decode(codec, "replace")
    return value if isinstance(value, str) else ""
