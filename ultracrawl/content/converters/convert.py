"""From bytes to a `Conversion`: finds the converter of a document, and of documents inside it."""

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
"""Converters of Word, Excel and PowerPoint, which of 2003 can save XML under the names of their older formats."""


class ConverterModule(Protocol):
    """What the module of a `Converter` has; imported and called in a conversion process, one document at a time."""

    def convert(self, source: Source, sink: Sink) -> None:
        """Fill `sink` with title, text, attributes and links of a document.

        Call `sink.budget.check_time()` between its parts, so that a long one ends with what was read until then.
        Raises `ConversionError` for a document that cannot be read; whatever else broken input makes a library raise
        costs that document and no other. `LimitReachedError`, which the methods of `sink` raise, passes through.
        """


def convert(source: Source, sink: Sink) -> None:
    """Convert a document into `sink`; a limit that is reached is noted. Raises `ConversionError` and others."""
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
        raise ConversionError("the XML brings a DTD") from None
    except XmlBrokenError as error:
        raise ConversionError(f"broken XML: {error}") from None


def add_html(
    body: bytes, sink: Sink, content_type: str = "", *, only_links: bool = False, xml: bool = False
) -> None:
    """Add a page that stands inside a document: its text, title, language and absolute links, or those alone."""
    page = parse_html(body, url="", content_type=content_type, xml=xml)
    sink.set_title(page.title)
    sink.set_language(page.language)
    sink.absolute_links(link.href for link in page.links)
    if not only_links:
        sink.add(page.text)


def add_member(source: Source, sink: Sink) -> None:
    """Add a file that is inside a document: its name, its title and its text; what cannot be read is left out.

    Raises `LimitReachedError` when the whole document has to end here.
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
    ) as error:  # the edge: whatever a broken file makes a library raise, its neighbours are read
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
    """Return what a file is by its bytes; by its declared type or its name where they only show text or nothing."""
    found = sniff_type(source.body)
    if found not in ("text/plain", "application/octet-stream", "application/xml"):
        return found
    named = source.media_type or type_of_name(source.name)
    textual = named.startswith("text/") or named.endswith(("xml", "json", "ndjson", "mbox", "rfc822"))
    return named if named and (textual or found == "application/octet-stream") else found
