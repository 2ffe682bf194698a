"""What stands beside the text of a PDF: comments, values of forms, bookmarks and attached files, with PDFium."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import pypdfium2
from pypdfium2 import raw

from ultracrawl.content.converters.conversion import Sink, Source
from ultracrawl.content.converters.convert import add_member
from ultracrawl.content.converters.registry import type_of_name

_MAX_ANNOTATIONS_PER_PAGE = 5000
_MAX_BOOKMARKS = 20_000
_MAX_ATTACHMENTS = 1000
_MAX_VALUE_BYTES = 200_000
_SILENT = frozenset({raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_WIDGET})
"""Kinds of annotations that say nothing of their own; a widget is a field of a form."""
_FIELDS = frozenset({raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX})
"""Kinds of fields whose value people write or choose as text."""


class PdfNotes:
    """The notes of a document, by the page that they belong to. What cannot be read of them is left out."""

    def __init__(self, document: pypdfium2.PdfDocument, sink: Sink) -> None:
        """Initialise, before any page is loaded: PDFium needs to know of forms first."""
        self._document = document
        self._sink = sink
        self._values: set[str] = set()
        """Values of fields that were read; a field may stand on many pages."""
        if document.get_formtype() != raw.FORMTYPE_NONE:
            document.init_forms()
        self._bookmarks: dict[int, list[str]] = {}
        for bookmark in islice(document.get_toc(), _MAX_BOOKMARKS):
            target = bookmark.get_dest()
            page = target.get_index() if target is not None else None
            self._bookmarks.setdefault(-1 if page is None else page, []).append(bookmark.get_title())

    def add_of_page(self, number: int, page: pypdfium2.PdfPage, text: str) -> None:
        """Add the notes of a page, as far as its text does not say them."""
        notes = [*self._bookmarks.pop(number, ()), *self._annotations(page)]
        if not notes:
            return
        said = _folded(text)
        for note in notes:
            folded = _folded(note)
            if folded and folded not in said:
                self._sink.add(note)

    def add_of_document(self) -> None:
        """Add what belongs to no page that could be read, and then the attached files."""
        for titles in self._bookmarks.values():
            for title in titles:
                self._sink.add(title)
        for number in range(min(self._document.count_attachments(), _MAX_ATTACHMENTS)):
            self._add_attachment(number)

    def _add_attachment(self, number: int) -> None:
        size = ctypes.c_ulong(0)
        try:
            attachment = self._document.get_attachment(number)
            name = attachment.get_name()
            # PDFium unpacks a file to tell its size: the memory of the process bounds that, and the budget the rest.
            raw.FPDFAttachment_GetFile(attachment, None, 0, size)
            self._sink.budget.take_unpacked(size.value)
            body = bytes(attachment.get_data())
        except pypdfium2.PdfiumError as error:
            self._sink.note(f"attached file {number + 1}: {error}")
            return
        self._sink.meta("attachments", name)
        if self._sink.depth >= self._sink.budget.limits.nesting:
            self._sink.note(
                f"attached file {name!r}: documents are too deep inside each other (conversion.nesting)"
            )
            return
        add_member(Source(body, type_of_name(name), name=name), self._sink)

    def _annotations(self, page: pypdfium2.PdfPage) -> Iterator[str]:
        for number in range(min(raw.FPDFPage_GetAnnotCount(page.raw), _MAX_ANNOTATIONS_PER_PAGE)):
            annotation = raw.FPDFPage_GetAnnot(page.raw, number)
            if not annotation:
                continue
            try:
                kind = raw.FPDFAnnot_GetSubtype(annotation)
                if kind not in _SILENT:
                    yield _text(partial(raw.FPDFAnnot_GetStringValue, annotation, b"Contents"))
                elif kind == raw.FPDF_ANNOT_WIDGET and self._document.formenv:
                    yield self._value(annotation)
            finally:
                raw.FPDFPage_CloseAnnot(annotation)

    def _value(self, widget: raw.FPDF_ANNOTATION) -> str:
        """Return what somebody wrote into a field, or chose; empty if it is another field, or was read."""
        form = self._document.formenv.raw
        if raw.FPDFAnnot_GetFormFieldType(form, widget) not in _FIELDS:
            return ""
        value = _text(partial(raw.FPDFAnnot_GetFormFieldValue, form, widget))
        if value in self._values:
            return ""
        self._values.add(value)
        return value


def _text(read: Callable[[object, int], int]) -> str:
    """Return a text of PDFium; `read` takes a buffer and its size, and returns the bytes that it needs."""
    size = read(None, 0)
    if not 2 < size <= _MAX_VALUE_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
