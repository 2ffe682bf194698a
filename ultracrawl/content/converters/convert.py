"""Runs the converter for the media type of a document, and of documents inside it."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from ultracrawl.content.converters.conversion import ConversionError, LimitReachedError, Sink, Source
from ultracrawl.content.converters.registry import converter_for, missing, type_of_name
from ultracrawl.content.followed import XHTML
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.mime import sniff_type
from ultracrawl.content.reader import MARKUP_TYPES
from ultracrawl.content.text import parse_text
from ultracrawl.content.xml import XmlBrokenError, XmlRefusedError
from ultracrawl.errors import is_panic

_PACKAGE = "ultracrawl.content.converters"
_OFFICE = frozenset(f"{_PACKAGE}.office.{name}" for name in ("office", "spreadsheets", "legacy"))
"""Converters for Word, Excel and PowerPoint, whose 2003 versions save XML under the types of their older formats."""


class ConverterModule(Protocol):
    """The interface of a converter module; called in a conversion process for one document at a time."""

    def convert(self, source: Source, sink: Sink) -> None:
        """Fill `sink` with title, text, attributes and links of a document.

        Call `sink.budget.check_time()` between its parts, so that a long document is kept in part. Raise
        `ConversionError` for a document that cannot be read; other exceptions of libraries only fail this document.
        Let `LimitReachedError` of the methods of `sink` pass.
        """


def convert(source: Source, sink: Sink) -> None:
    """Convert a document into `sink`; a reached limit is noted. Raises `ConversionError` and errors of libraries."""
    converter = converter_for(source.media_type)
    if converter is None or missing(source.media_type):
        raise ConversionError(missing(source.media_type))
    xml = converter.module in _OFFICE and sniff_type(source.body).endswith("xml")
    module = cast(ConverterModule, import_module(f"{_PACKAGE}.xml" if xml else converter.module))
    try:
        module.convert(source, sink)
    except LimitReachedError as limit:
        sink.note(str(limit))
    except XmlRefusedError:
        raise ConversionError("the XML has a DTD") from None
    except XmlBrokenError as error:
        raise ConversionError(f"broken XML: {error}") from None


def add_html(body: bytes, sink: Sink, content_type: str = "", *, xml: bool = False) -> None:
    """Add an HTML page inside a document: title, language, absolute links and text."""
    sink.add(read_html(body, sink, content_type, xml=xml))


def read_html(body: bytes, sink: Sink, content_type: str = "", *, xml: bool = False) -> str:
    """Return the text of an HTML page inside a document, and add its title, language and absolute links."""
    page = parse_html(body, url="", content_type=content_type, xml=xml)
    sink.set_title(page.title)
    sink.set_language(page.language)
    sink.absolute_links(link.href for link in page.links)
    return page.text


def add_member(source: Source, sink: Sink) -> None:
    """Add a file inside a document: its name, title and text; of unreadable files only the name.

    Raises `LimitReachedError` if a limit of the whole document is reached.
    """
    sink.budget.take_member()
    sink.add(source.name)
    media_type = _member_type(source)
    inner = sink.inner()
    try:
        if media_type in MARKUP_TYPES:
            add_html(source.body, inner, source.content_type, xml=media_type == XHTML)
        elif converter_for(media_type) is not None:
            _add_converted(source._replace(media_type=media_type), inner)
        elif media_type.startswith("text/"):
            inner.add(parse_text(source.body, content_type=source.content_type).text)
    except (LimitReachedError, MemoryError, BrokenPipeError):
        raise
    except (
        BaseException
    ) as error:  # libraries raise anything for broken files, and the next files must be read all the same
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        inner.note(" ".join(str(error).split())[:200])
    if inner.title:
        sink.add(inner.title)
    if inner.truncated:
        sink.note(f"{source.name or media_type}: {inner.truncated}")


def _add_converted(source: Source, inner: Sink) -> None:
    if missing(source.media_type):
        inner.note(missing(source.media_type))
        return
    convert(source, inner)
    inner.budget.check_time()


def _member_type(source: Source) -> str:
    """Return the media type of a file by its bytes, or by declaration or name if the bytes are ambiguous."""
    sniffed = sniff_type(source.body)
    if sniffed not in ("text/plain", "application/octet-stream", "application/xml"):
        return sniffed
    declared = source.media_type or type_of_name(source.name)
    is_text = declared.startswith("text/") or declared.endswith(("xml", "json", "ndjson", "mbox", "rfc822"))
    return declared if declared and (is_text or sniffed == "application/octet-stream") else sniffed
