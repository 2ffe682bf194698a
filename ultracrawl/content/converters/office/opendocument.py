"""Converter for OpenDocument text, spreadsheets, presentations and drawings (ISO 26300), as packages or flat XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from posixpath import join, normpath

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.embedded import add_parts
from ultracrawl.content.converters.office.package import (
    OpenElements,
    Package,
    Paragraphs,
    add_custom_property,
    add_property,
)
from ultracrawl.content.xml import ElementHandler, XmlError, attribute, stream_xml

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
_MASTERS = "master-styles"
_PARTS = frozenset({"meta", "body", _MASTERS})
"""Elements in which there is something to read."""
_STYLES = "styles.xml"
_MASTERS_START, _MASTERS_END, _PARAGRAPH = b"<office:master-styles", b"</office:master-styles>", b"<text:p"
_FIELDS = frozenset({"page-number", "page-count", "sheet-name", "date", "time", "file-name", "title", "desc"})
"""What a header says of the page that it stands on, for which a master has an example."""
_WORD = re.compile(r"\w+")
_PLACES = frozenset({"title", "subtitle", "outline", "notes"})
"""Classes of frames in which a master invites to write."""
_OBJECTS = frozenset({"object", "object-ole"})
_MAX_OBJECTS = 10_000
_OF_ANNOTATION = frozenset({"creator", "date", "creator-initials", "sender-initials"})


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, text, notes, comments and links, then headers, footers and what is embedded.

    Tracked changes are read as if all of them were accepted.
    """
    if source.media_type.endswith("flat-xml"):
        stream_xml(source.body, _OpenDocument(sink), sink.budget.check_time)
    else:
        _read_package(source, sink)
    if "author" not in sink.metadata:
        sink.meta("author", *sink.metadata.get("last_modified_by", ()))


def _read_package(source: Source, sink: Sink) -> None:
    package = Package(source.body, sink.budget)
    if b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise ConversionError("the document is encrypted")
    if "content.xml" not in package:
        raise ConversionError("the file has no OpenDocument content in it")
    handler = _OpenDocument(sink)
    for name in ("meta.xml", "content.xml"):
        data = package.read(name)
        if data:
            stream_xml(data, handler, sink.budget.check_time)
    _read_masters(package, sink)
    _read_objects(package, handler.objects, sink)


def _read_masters(package: Package, sink: Sink) -> None:
    """Add headers, footers and what masters of slides show; if they cannot be read, that is noted."""
    try:
        styles = package.read(_STYLES)
        start, end = styles.find(_MASTERS_START), styles.rfind(_MASTERS_END)
        if 0 <= start < end and styles.find(_PARAGRAPH, start, end) >= 0:  # the rest is looks, and much of it
            masters = styles[start : end + len(_MASTERS_END)]
            stream_xml(masters, _OpenDocument(sink), sink.budget.check_time, "utf-8")
    except (ConversionError, XmlError) as error:
        sink.note(f"{_STYLES}: {error}")


def _read_objects(package: Package, objects: Iterable[str], sink: Sink) -> None:
    """Add embedded documents: charts and others that are folders of the package, and files of other programs.

    One that cannot be read is noted, and costs itself.
    """
    waiting, files = list(dict.fromkeys(objects)), list[str]()
    seen = set(waiting)
    for name in waiting:  # it grows: an object may have objects
        content = f"{name}/content.xml"
        if content not in package:
            files.append(name)
            continue
        sink.budget.take_member()
        handler = _OpenDocument(sink)
        try:
            stream_xml(package.read(content), handler, sink.budget.check_time)
        except (ConversionError, XmlError) as error:
            sink.note(f"{content}: {error}")
        inner = dict.fromkeys(normpath(join(name, inner)) for inner in handler.objects)
        waiting += [one for one in inner if one not in seen]
        seen.update(inner)
    add_parts(package, (name for name in files if name in package), sink)


class _OpenDocument:
    """Collects metadata in `office:meta`, text in `office:body`, headers and footers in `office:master-styles`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.objects: list[str] = []
        """Where the embedded objects are in the package."""
        self._paragraphs = Paragraphs(self._add_paragraph)
        self._repeated: set[str] = set()
        """The paragraphs of masters, which say much the same."""
        self._meta = ElementHandler(self._add_meta)
        self._open = OpenElements()
        self._has_field = False
        """Whether a field was left out of the paragraph of a master."""
        self._parts = [""]
        """The parts that are open; an object may have parts of its own."""
        self._style = ""
        self._hidden: set[str] = set()
        """The styles of text that is hidden."""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open.start(name)
        part = self._parts[-1]
        if name in _PARTS:
            self._parts.append(name)
        elif part == "meta":
            self._meta.start_element(name, attributes)
        elif part:
            self._start_in_text(name, attributes)
        elif name == "style":
            self._style = attribute(attributes, "name")
        elif name == "text-properties" and attribute(attributes, "display") == "none":
            self._hidden.add(self._style)
        if self._is_omitted(name, attributes):
            self._open.omit()

    def _start_in_text(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _PARAGRAPHS:
            self._paragraphs.start_paragraph()
        elif self._open.is_omitting:
            return
        elif name == "table" and self._open.is_directly_in("spreadsheet"):
            self._sink.add(attribute(attributes, "name"))
        elif name in _BLANKS:
            self._paragraphs.add(" ")
        elif name == "a" and (href := attribute(attributes, "href")):
            self._sink.link(href)
        elif name in _OBJECTS and len(self.objects) < _MAX_OBJECTS:
            self.objects.append(normpath(attribute(attributes, "href") or "."))

    def _is_omitted(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Return whether an element is no text, was deleted, or is hidden."""
        if name in _STYLED:
            return bool(self._hidden) and attribute(attributes, "style-name") in self._hidden
        if name == "section":
            return attribute(attributes, "display") == "none"
        if self._parts[-1] == _MASTERS:
            self._has_field |= name in _FIELDS
            return name in _FIELDS or (name == "frame" and attribute(attributes, "class") in _PLACES)
        return name in _OMITTED or (name in _OF_ANNOTATION and self._open.is_directly_in("annotation"))

    def _add_paragraph(self, text: str) -> None:
        if self._parts[-1] == _MASTERS:
            is_label = (
                self._has_field and len(_WORD.findall(text)) < 2
            )  # "Page", of a number that is left out
            self._has_field = False
            if is_label or text in self._repeated:
                return
            self._repeated.add(text)
        self._sink.add(text)

    def _add_meta(self, name: str, attributes: Mapping[str, str], text: str, _: object) -> None:
        add_property(name, text, self._sink, _NAMES, "keyword")
        if name == "user-defined":
            add_custom_property(attribute(attributes, "name"), text, self._sink)
        elif name == "document-statistic":
            for statistic, our_name in _STATISTICS.items():
                self._sink.meta(our_name, attribute(attributes, statistic))

    def end_element(self, name: str) -> None:
        self._open.end_innermost()
        if name in _PARTS:
            self._parts.pop()
        elif self._parts[-1] == "meta":
            self._meta.end_element(name)
        elif self._parts[-1] and name in _PARAGRAPHS:
            self._paragraphs.end_paragraph()

    def text(self, data: str) -> None:
        if self._open.is_omitting:
            return
        if self._parts[-1] == "meta":
            self._meta.text(data)
        elif self._parts[-1] == "body" or self._paragraphs.is_open:
            self._paragraphs.add(data)
