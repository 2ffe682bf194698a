"""Converter for PDF, with PDFium."""

from __future__ import annotations

import ctypes
from contextlib import closing, suppress

import pypdfium2
from pypdfium2 import raw

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.images.xmp import read_xmp
from ultracrawl.content.converters.pdf_notes import PdfNotes
from ultracrawl.content.xml import XmlError
from ultracrawl.model.dates import pdf_date

_MAX_LINKS_PER_PAGE = 2000
_MAX_OBJECTS_PER_PAGE = 2000
"""Objects of a page that are checked for invisible text."""
_SOFT_HYPHEN = "\ufffe"
"""PDFium's character for a hyphen that splits a word at the end of a line."""


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, text, notes and links, then attached files; nothing in the file is executed."""
    try:
        document = pypdfium2.PdfDocument(source.body)
    except pypdfium2.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise ConversionError("the document is encrypted, and needs a password") from None
        raise ConversionError("this is not a PDF that can be read") from None
    with closing(document):
        _read_properties(document, sink)
        _read_xmp(source, sink)
        _read_pages(document, sink)


def _read_properties(document: pypdfium2.PdfDocument, sink: Sink) -> None:
    properties = document.get_metadata_dict(skip_empty=True)
    sink.set_title(properties.get("Title", ""))
    sink.set_language(_language(document))
    for name in ("Author", "Subject", "Producer"):
        sink.meta(name.lower(), properties.get(name, ""))
    sink.keywords(properties.get("Keywords", ""))
    sink.meta("application", properties.get("Creator", ""))
    sink.meta("created", pdf_date(properties.get("CreationDate", "")))
    sink.meta("modified", pdf_date(properties.get("ModDate", "")))
    sink.meta("pages", str(len(document)))


def _read_xmp(source: Source, sink: Sink) -> None:
    """Add metadata that the information dictionary lacks; a broken packet is ignored."""
    with suppress(XmlError):
        read_xmp(source.body, sink)


def _language(document: pypdfium2.PdfDocument) -> str:
    size = raw.FPDFCatalog_GetLanguage(document.raw, None, 0)
    if not 2 < size <= 200:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFCatalog_GetLanguage(document.raw, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")


def _read_pages(document: pypdfium2.PdfDocument, sink: Sink) -> None:
    notes = PdfNotes(document, sink)
    count, mixed = len(document), 0
    for number in range(count):
        sink.budget.check_time(f"{number} of {count} pages")
        try:
            page = document[number]
        except pypdfium2.PdfiumError:
            sink.note(f"page {number + 1} could not be read")
            continue
        with closing(page):
            notes.add_of_page(number, page, _read_page(document, page, sink))
            mixed += _mixes_invisible_text(page)
    sink.meta("invisible_text", str(mixed) if mixed else "")
    notes.add_of_document()


def _mixes_invisible_text(page: pypdfium2.PdfPage) -> bool:
    """Return whether a page has invisible text beside visible text.

    A page with invisible text only is a scan with recognised text.
    """
    modes = set[bool]()
    for number in range(min(raw.FPDFPage_CountObjects(page.raw), _MAX_OBJECTS_PER_PAGE)):
        item = raw.FPDFPage_GetObject(page.raw, number)
        if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_TEXT:
            modes.add(raw.FPDFTextObj_GetTextRenderMode(item) == raw.FPDF_TEXTRENDERMODE_INVISIBLE)
            if len(modes) == 2:
                return True
    return False


def _read_page(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, sink: Sink) -> str:
    """Add the text and links of a page; return the text."""
    with closing(page.get_textpage()) as text_page:
        text = str(text_page.get_text_range()).replace(_SOFT_HYPHEN, "")
    sink.add(text)
    position = ctypes.c_int(0)
    link = raw.FPDF_LINK()
    for _ in range(_MAX_LINKS_PER_PAGE):
        if not raw.FPDFLink_Enumerate(page.raw, position, link):
            break
        action = raw.FPDFLink_GetAction(link)
        if action:
            sink.link(_target(document, action))
    return text


def _target(document: pypdfium2.PdfDocument, action: raw.FPDF_ACTION) -> str:
    size = raw.FPDFAction_GetURIPath(document.raw, action, None, 0)
    if not 1 < size <= 4097:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document.raw, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")
