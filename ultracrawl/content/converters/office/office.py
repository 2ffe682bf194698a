"""Converter for Word and PowerPoint documents of Office Open XML (ECMA-376)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.embedded import add_parts
from ultracrawl.content.converters.office.package import (
    OpenElements,
    Package,
    Paragraphs,
    read_office_properties,
)
from ultracrawl.content.converters.office.relations import add_links, parts_of_kind, relations_of
from ultracrawl.content.xml import XmlError, attribute, stream_xml

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
EMBEDDED = ("package", "oleObject")
"""Kinds of relations with documents that are embedded."""
_SHOWN_BY_MASTER = frozenset({"ftr", "hdr"})
"""Places of a master whose own text is no invitation to write one."""
_SLIDE_DATA, _PLACE_TAG, _TEXT_TAG = b"<p:cSld", b"<p:ph", b"<a:t>"
_SHAPE_TAG = re.compile(rb"</?p:sp>")
_SHOWN_PLACE = re.compile(rb"""<p:ph\s[^<>]{0,200}?type=["'](?:ftr|hdr)""")
_OFF = frozenset({"0", "false", "off"})
_FIELD_LINK = re.compile(r'\s*HYPERLINK\s+"([^"]+)"', re.IGNORECASE)


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, text, notes, comments, masters and links, then what is embedded.

    Tracked changes are read as if all of them were accepted.
    """
    package = Package(source.body, sink.budget)
    parts = _parts(package.names)
    if not parts and "ppt/presentation.xml" not in package:
        raise ConversionError("the file has neither a Word document nor slides in it")
    read_office_properties(package, sink)
    chunks, embedded, layouts = list[str](), list[str](), list[str]()
    for name in parts:
        sink.budget.take_member()
        relations = relations_of(package, name, sink)
        add_links(relations, sink)
        _read_text(package, name, sink)
        chunks += parts_of_kind(relations, "aFChunk")
        embedded += parts_of_kind(relations, *EMBEDDED)
        layouts += parts_of_kind(relations, "slideLayout")
    if layouts:
        embedded += _read_masters(package, layouts, sink)
    read_drawn_parts(package, sink)
    add_parts(package, (*chunks, *embedded), sink)


def read_drawn_parts(package: Package, sink: Sink) -> None:
    """Add the text of diagrams, chart labels, text boxes and comments of sheets and slides."""
    for name in sorted(filter(_DRAWN_PARTS.fullmatch, package.names)):
        if not _WORD_PARTS.fullmatch(name):
            sink.budget.take_member()
            _read_text(package, name, sink)


def _read_text(package: Package, name: str, sink: Sink, *, of_master: bool = False) -> None:
    paragraphs = Paragraphs(sink.add)
    stream_xml(package.read(name), _OfficeText(sink, paragraphs, of_master), sink.budget.check_time)
    paragraphs.end_all()


def _parts(names: tuple[str, ...]) -> list[str]:
    """Return the parts with text in reading order: each slide before its notes."""
    word_parts = [name for name in names if _WORD_PARTS.fullmatch(name)]
    word_parts.sort(key=lambda name: next(i for i, part in enumerate(_ORDER) if part in name.lower()))
    slides = [
        (int(match[1]), "notes" in name, name) for name in names if (match := _SLIDE_PARTS.fullmatch(name))
    ]
    return word_parts + [name for _, _, name in sorted(slides)]


def _read_masters(package: Package, layouts: Iterable[str], sink: Sink) -> Iterator[str]:
    """Add what masters of slides, notes and handouts show of their own; yield the parts that are embedded there.

    `layouts` are those that slides use. A master that cannot be read is noted, and costs itself.
    """
    others = ("notesMaster", "handoutMaster")
    presentation = relations_of(package, "ppt/presentation.xml", sink, kinds=others)
    waiting, seen = [*layouts, *parts_of_kind(presentation, *others)], set[str]()
    for name in waiting:  # it grows: a layout has a master
        if name in seen or name not in package:
            continue
        seen.add(name)
        sink.budget.take_member()
        try:
            relations = relations_of(package, name, sink, kinds=("slideMaster", *EMBEDDED))
            if _has_own_text(package.read(name, counted=False)):
                _read_text(package, name, sink, of_master=True)
        except (ConversionError, XmlError) as error:
            sink.note(f"{name}: {error}")
            continue
        waiting += parts_of_kind(relations, "slideMaster")
        yield from parts_of_kind(relations, *EMBEDDED)


def _has_own_text(master: bytes) -> bool:
    """Return whether a master may have text outside the places that slides fill; most have none, and are long."""
    if _SLIDE_DATA not in master:
        return True  # not by the usual prefixes
    return any(
        _TEXT_TAG in shape and (_PLACE_TAG not in shape or _SHOWN_PLACE.search(shape))
        for shape in _SHAPE_TAG.split(master)
    )


class _OfficeText:
    """Collects `t` elements and chart labels as text; `p` is a paragraph, and fields may be links."""

    def __init__(self, sink: Sink, paragraphs: Paragraphs, of_master: bool) -> None:
        self._sink = sink
        self._paragraphs = paragraphs
        self._of_master = of_master
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
        elif self._of_master:
            self._judge_of_master(name, attributes)

    def _judge_of_master(self, name: str, attributes: Mapping[str, str]) -> None:
        """Leave out a place that slides fill, with the words that invite to it, and the number of the slide."""
        if name == "ph" and attributes.get("type") not in _SHOWN_BY_MASTER:
            self._open.omit(3)
        elif name == "fld":
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
