"""Converter for Word and PowerPoint documents of Office Open XML (ECMA-376)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.package import (
    OpenElements,
    Package,
    Paragraphs,
    read_office_properties,
)
from ultracrawl.content.xml import ElementHandler, attribute, stream_xml

_WORD_PARTS = re.compile(
    r"word/(?:document|header|footer|footnotes|endnotes|comments)\d*\.xml", re.IGNORECASE
)
_SLIDE_PARTS = re.compile(r"ppt/(?:slides/slide|notesSlides/notesSlide)(\d+)\.xml", re.IGNORECASE)
_DRAWN_PARTS = re.compile(
    r"(?:word|ppt|xl)/(?:(?:diagrams/data|charts/chart|drawings/drawing)\d*|comments\d*|comments/\w+)\.xml",
    re.IGNORECASE,
)
"""Diagrams, charts, text boxes and comments, which are in parts of their own.

Excel repeats comments of threads among the plain ones, for programs that do not know them.
"""
_ORDER = ("document", "footnotes", "endnotes", "comments", "header", "footer")
_DELETED = frozenset({"del", "movefrom"})
"""What a tracked change removes: text, the end of a paragraph, or a row."""
_CHARACTERS = {"nobreakhyphen": "-", "tab": " ", "br": " ", "cr": " "}
"""Elements that stand for a character."""
_OFF = frozenset({"0", "false", "off"})
_FIELD_LINK = re.compile(r'\s*HYPERLINK\s+"([^"]+)"', re.IGNORECASE)


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, text, notes, comments and links; tracked changes as if all of them were accepted."""
    package = Package(source.body, sink.budget)
    parts = _parts(package.names)
    if not parts and "ppt/presentation.xml" not in package:
        raise ConversionError("the file has neither a Word document nor slides in it")
    read_office_properties(package, sink)
    for name in parts:
        sink.budget.take_member()
        read_links(package, name, sink)
        _read_text(package, name, sink)
    read_drawn_parts(package, sink)


def read_drawn_parts(package: Package, sink: Sink) -> None:
    """Add the text of diagrams, chart labels, text boxes and comments of sheets and slides."""
    for name in sorted(filter(_DRAWN_PARTS.fullmatch, package.names)):
        if not _WORD_PARTS.fullmatch(name):
            sink.budget.take_member()
            _read_text(package, name, sink)


def _read_text(package: Package, name: str, sink: Sink) -> None:
    paragraphs = Paragraphs(sink)
    stream_xml(package.read(name), _OfficeText(sink, paragraphs), sink.budget.check_time)
    paragraphs.end_all()


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
    """Collects `t` elements and chart labels as text; `p` is a paragraph, and fields may be links."""

    def __init__(self, sink: Sink, paragraphs: Paragraphs) -> None:
        self._sink = sink
        self._paragraphs = paragraphs
        self._open = OpenElements()
        self._inside = ""
        self._labels = False
        self._field: list[str] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open.start(name)
        if name in ("t", "text", "instrtext") or (name == "v" and self._labels):
            self._inside = name
        elif name == "p":
            self._paragraphs.start_paragraph()
        elif name == "strcache":
            self._labels = True
        elif name == "fldsimple":
            self._add_link(attribute(attributes, "instr"))
        elif name in _CHARACTERS:
            self._add(_CHARACTERS[name])
        else:
            self._judge(name, attributes)

    def _judge(self, name: str, attributes: Mapping[str, str]) -> None:
        """Leave out what a change removes, what is hidden, and the picture of a drawing beside the drawing."""
        if name in _DELETED:
            if self._open.is_directly_in("ppr", "rpr"):
                self._paragraphs.join_next()
            else:
                self._open.omit(2 if self._open.is_directly_in("trpr") else 0)
        elif name == "celldel":
            self._open.omit(2)
        elif name == "vanish":
            if self._open.is_directly_in("r", "rpr") and attribute(attributes, "val").lower() not in _OFF:
                self._open.omit(2)
        elif name == "fallback":
            self._open.omit()

    def end_element(self, name: str) -> None:
        self._open.end_innermost()
        self._inside = ""
        if name in ("p", "v", "comment", "cm"):
            self._paragraphs.end_paragraph()
            self._field.clear()
        elif name == "strcache":
            self._labels = False
        elif name == "instrtext":
            self._add_link("".join(self._field))

    def text(self, data: str) -> None:
        if self._inside == "instrtext":
            self._field.append(data)
        elif self._inside:
            self._add(data)

    def _add(self, text: str) -> None:
        if not self._open.is_omitting:
            self._paragraphs.add(text)

    def _add_link(self, field: str) -> None:
        if match := _FIELD_LINK.match(field):
            self._field.clear()
            if not self._open.is_omitting:
                self._sink.link(match[1])
