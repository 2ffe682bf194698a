"""Converter for Word and PowerPoint documents of Office Open XML (ECMA-376)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.package import Package, Paragraphs, read_office_properties
from ultracrawl.content.xml import ElementHandler, attribute, stream_xml

_WORD_PARTS = re.compile(
    r"word/(?:document|header|footer|footnotes|endnotes|comments)\d*\.xml", re.IGNORECASE
)
_SLIDE_PARTS = re.compile(r"ppt/(?:slides/slide|notesSlides/notesSlide)(\d+)\.xml", re.IGNORECASE)
_DRAWN_PARTS = re.compile(
    r"(?:word|ppt|xl)/(?:(?:diagrams/data|charts/chart|drawings/drawing)\d*|(?:threadedcomments/\w*)?comments?\d*)\.xml",
    re.IGNORECASE,
)
"""Diagrams, charts, text boxes and notes, which are in parts of their own."""
_ORDER = ("document", "footnotes", "endnotes", "comments", "header", "footer")
_FIELD_LINK = re.compile(r'\s*HYPERLINK\s+"([^"]+)"', re.IGNORECASE)


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, text, notes and links; deletions of tracked changes are left out."""
    package = Package(source.body, sink.budget)
    parts = _parts(package.names)
    if not parts and "ppt/presentation.xml" not in package:
        raise ConversionError("the file has neither a Word document nor slides in it")
    read_office_properties(package, sink)
    for name in parts:
        sink.budget.take_member()
        read_links(package, name, sink)
        stream_xml(package.read(name), _OfficeText(sink), sink.budget.check_time)
    read_drawn_parts(package, sink)


def read_drawn_parts(package: Package, sink: Sink) -> None:
    """Add the text of diagrams, chart labels, text boxes and notes of sheets."""
    for name in sorted(filter(_DRAWN_PARTS.fullmatch, package.names)):
        if not _WORD_PARTS.fullmatch(name):
            sink.budget.take_member()
            stream_xml(package.read(name), _OfficeText(sink), sink.budget.check_time)


def _parts(names: tuple[str, ...]) -> list[str]:
    """Return the parts with text in reading order: each slide before its notes."""
    word_parts = [name for name in names if _WORD_PARTS.fullmatch(name)]
    word_parts.sort(key=lambda name: next(i for i, part in enumerate(_ORDER) if part in name.lower()))
    slides = [
        (int(match[1]), "notes" in name, name) for name in names if (match := _SLIDE_PARTS.fullmatch(name))
    ]
    return word_parts + [name for _, _, name in sorted(slides)]


def read_links(package: Package, part: str, sink: Sink) -> None:
    """Add the external hyperlinks among the relationships of a part."""

    def on_element(name: str, attributes: Mapping[str, str], *_: object) -> None:
        external = attributes.get("TargetMode", "").lower() == "external"
        if name == "relationship" and external and attributes.get("Type", "").endswith("/hyperlink"):
            sink.link(attributes.get("Target", ""))

    folder, _, file = part.rpartition("/")
    if data := package.read(f"{folder}/_rels/{file}.rels"):
        stream_xml(data, ElementHandler(on_element), sink.budget.check_time)


class _OfficeText:
    """Collects `t` elements and chart labels as text; `p` ends a paragraph, and fields may be links."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._paragraphs = Paragraphs(sink)
        self._inside = ""
        self._skipped = 0
        self._labels = False
        self._field: list[str] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in ("t", "instrtext") or (name == "v" and self._labels):
            self._inside = name
        elif name == "strcache":
            self._labels = True
        elif name == "nobreakhyphen":
            self._paragraphs.add("-")
        elif name in ("tab", "br", "cr"):
            self._paragraphs.add(" ")
        elif name == "fallback":
            self._skipped += 1
        elif name == "fldsimple":
            self._add_link(attribute(attributes, "instr"))

    def end_element(self, name: str) -> None:
        if name in ("p", "v", "comment", "threadedcomment"):
            self._paragraphs.end_paragraph()
            self._field.clear()
        elif name == "strcache":
            self._labels = False
        elif name == "instrtext":
            self._add_link("".join(self._field))
        elif name == "fallback":
            self._skipped -= 1
        self._inside = ""

    def text(self, data: str) -> None:
        if self._inside == "instrtext":
            self._field.append(data)
        elif self._inside and not self._skipped:
            self._paragraphs.add(data)

    def _add_link(self, field: str) -> None:
        if match := _FIELD_LINK.match(field):
            self._sink.link(match[1])
            self._field.clear()
