"""Converter for OpenDocument text, spreadsheets, presentations and drawings (ISO 26300), as packages or flat XML."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.package import (
    OpenElements,
    Package,
    Paragraphs,
    add_custom_property,
    add_property,
)
from ultracrawl.content.xml import ElementHandler, attribute, stream_xml

_NAMES = {
    "initial-creator": "author",
    "creator": "last_modified_by",
    "subject": "subject",
    "description": "description",
    "creation-date": "created",
    "date": "modified",
    "generator": "application",
}
_STATISTICS = {"page-count": "pages", "word-count": "words"}
_PARAGRAPHS = frozenset({"p", "h", "title", "desc"})
_BLANKS = frozenset({"s", "tab", "line-break"})
_STYLED = frozenset({"p", "h", "span", "a"})
_OMITTED = frozenset(
    {"tracked-changes", "binary-data", "settings", "styles", "automatic-styles", "note-citation"}
)
_OF_ANNOTATION = frozenset({"creator", "date", "creator-initials", "sender-initials"})


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, text, notes, comments and links; tracked changes as if all of them were accepted."""
    handler = _OpenDocument(sink)
    if source.media_type.endswith("flat-xml"):
        stream_xml(source.body, handler, sink.budget.check_time)
    else:
        _read_package(source, handler, sink)
    if "author" not in sink.metadata:
        sink.meta("author", *sink.metadata.get("last_modified_by", ()))


def _read_package(source: Source, handler: _OpenDocument, sink: Sink) -> None:
    package = Package(source.body, sink.budget)
    if b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise ConversionError("the document is encrypted")
    if "content.xml" not in package:
        raise ConversionError("the file has no OpenDocument content in it")
    for name in ("meta.xml", "content.xml"):
        data = package.read(name)
        if data:
            stream_xml(data, handler, sink.budget.check_time)


class _OpenDocument:
    """Collects metadata in `office:meta` and text in `office:body`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._paragraphs = Paragraphs(sink)
        self._meta = ElementHandler(self._add_meta)
        self._open = OpenElements()
        self._part = ""
        self._style = ""
        self._hidden: set[str] = set()
        """The styles of text that is hidden."""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open.start(name)
        if name in ("meta", "body"):
            self._part = name
        elif self._part == "meta":
            self._meta.start_element(name, attributes)
        elif self._part == "body":
            self._start_in_body(name, attributes)
        elif name == "style":
            self._style = attribute(attributes, "name")
        elif name == "text-properties" and attribute(attributes, "display") == "none":
            self._hidden.add(self._style)
        if self._is_omitted(name, attributes):
            self._open.omit()

    def _start_in_body(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _PARAGRAPHS:
            self._paragraphs.start_paragraph()
        elif self._open.is_omitting:
            return
        elif name in _BLANKS:
            self._paragraphs.add(" ")
        elif name == "a" and (href := attribute(attributes, "href")):
            self._sink.link(href)

    def _is_omitted(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Return whether an element is no text, was deleted, or is hidden."""
        if name in _STYLED:
            return bool(self._hidden) and attribute(attributes, "style-name") in self._hidden
        if name == "section":
            return attribute(attributes, "display") == "none"
        return name in _OMITTED or (name in _OF_ANNOTATION and self._open.is_directly_in("annotation"))

    def _add_meta(self, name: str, attributes: Mapping[str, str], text: str, _: object) -> None:
        add_property(name, text, self._sink, _NAMES, "keyword")
        if name == "user-defined":
            add_custom_property(attribute(attributes, "name"), text, self._sink)
        elif name == "document-statistic":
            for statistic, our_name in _STATISTICS.items():
                self._sink.meta(our_name, attribute(attributes, statistic))

    def end_element(self, name: str) -> None:
        self._open.end_innermost()
        if name == self._part:
            self._part = ""
        elif self._part == "meta":
            self._meta.end_element(name)
        elif self._part == "body" and name in _PARAGRAPHS:
            self._paragraphs.end_paragraph()

    def text(self, data: str) -> None:
        if self._open.is_omitting:
            return
        if self._part == "meta":
            self._meta.text(data)
        elif self._part == "body":
            self._paragraphs.add(data)
