"""Reading untrusted XML: no DTD, no entities, nothing fetched.

`guarded_parser` and `parse` are what every reader of XML goes through: they hold the one guard against DTDs.
`read_xml` joins events to elements with their text and mends common mistakes, for sitemaps, feeds and lists;
`stream_xml` hands over events in document order, for documents of any size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html.entities import html5
from typing import Protocol
from xml.parsers import expat

from ultracrawl.content.charset.decoding import find_charset

_DECLARATION = re.compile(r"<\?xml[^<>]*\?>")
_AMPERSAND = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)(?:([a-zA-Z][a-zA-Z0-9]{0,30});)?"
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_PLAIN_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[\]<>]*>")
_PROLOG = 4096
_CHUNK = 1 << 16
_MOST_NAMES = 1000


class XmlError(ValueError):
    """The document is not read, or not to its end; `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


class XmlRefusedError(XmlError):
    """The document brings a DTD."""


class XmlBrokenError(XmlError):
    """The document is not well-formed; the text is the parser's."""


class XmlEvents(Protocol):
    """Called for the elements of a document; `name` is without its namespace prefix, in lower case."""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Take the start of an element; return False to stop reading here."""

    def end_element(self, name: str, text: str) -> None:
        """Take the end of an element with the text that stood directly in it."""


class XmlHandler(Protocol):
    """Called for a stream of events; names come without their prefix, in lower case."""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element; names of attributes are as written."""

    def end_element(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, data: str) -> None:
        """Take characters, in document order."""


TakeElement = Callable[[str, Mapping[str, str], str, Sequence[tuple[str, Mapping[str, str]]]], None]


def guarded_parser(encoding: str | None, *, bare_doctype: bool = False) -> expat.XMLParserType:
    """Return a parser that raises `XmlRefusedError` at a DOCTYPE, before anything of it is used.

    `bare_doctype` lets one pass that neither declares nor refers to anything. So no entity is ever replaced, and
    nothing else is opened. `encoding` wins over what the document declares.
    """
    parser = expat.ParserCreate(encoding)

    def refuse(*_declaration: object) -> int:
        raise XmlRefusedError(parser.CurrentLineNumber, "the document brings a DTD")

    def doctype(_name: str, system_id: str | None, _public_id: str | None, has_subset: bool) -> None:
        if system_id or has_subset or not bare_doctype:
            refuse()

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    return parser


def parse(parser: expat.XMLParserType, data: bytes, *, final: bool = True) -> None:
    """Send bytes through a parser. Raises `XmlBrokenError`, after the events before the break."""
    try:
        parser.Parse(data, final)
    except expat.ExpatError as error:
        raise XmlBrokenError(error.lineno, expat.errors.messages.get(error.code, "it is broken")) from None


def read_xml(data: bytes, listener: XmlEvents, *, content_type: str = "") -> str:
    """Send the elements of `data` to `listener`; return what is wrong with the document, or empty.

    Bare ampersands, HTML entities and control characters are mended. Reading ends at the first other
    mistake, and what was read until then counts. Raises `XmlRefusedError` on a DOCTYPE that declares or
    refers to anything.
    """
    charset = find_charset(data, content_type)
    text = _DECLARATION.sub("", data.decode(charset, "replace").lstrip("\ufeff"), count=1).lstrip()
    text = _AMPERSAND.sub(_mend, _FORBIDDEN.sub("", text))
    reader = _ElementReader(listener)
    try:
        parse(reader.parser, text.encode("utf-8", "replace"))
    except XmlBrokenError as error:
        reader.close_open_elements()
        return str(error)
    except _EnoughError:
        return ""
    return ""


def _mend(found: re.Match[str]) -> str:
    meaning = html5.get(f"{found[1]};") if found[1] else None
    if meaning is None or meaning in "&<":
        return "&amp;" + found[0][1:]
    return meaning


class _EnoughError(Exception):
    """The listener needs no further elements."""


class _ElementReader:
    """Joins expat's small events to elements with their text."""

    def __init__(self, listener: XmlEvents) -> None:
        self._listener = listener
        self._open: list[tuple[str, list[str]]] = []
        self._names = _LocalNames()
        self.parser = guarded_parser("utf-8", bare_doctype=True)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = self._names[name]
        self._open.append((name, []))
        if not self._listener.start_element(name, attributes):
            raise _EnoughError

    def _end(self, _name: str) -> None:
        name, texts = self._open.pop()
        self._listener.end_element(name, "".join(texts))

    def close_open_elements(self) -> None:
        """End what a broken document left open, so that its last entry is not lost."""
        self.parser.buffer_text = False  # hands over the text that it holds back
        while self._open:
            self._end("")

    def _characters(self, data: str) -> None:
        if self._open:
            self._open[-1][1].append(data)


def stream_xml(
    data: bytes, handler: XmlHandler, check_time: Callable[[], None], encoding: str | None = None
) -> None:
    """Send the events of `data` to `handler`; `encoding` wins over what the document declares.

    `check_time` is called now and then, and may raise. Raises `XmlBrokenError`, after the events before the break,
    and `XmlRefusedError` for declarations of entities. A DOCTYPE that declares nothing itself is dropped, and nothing
    that it refers to is read. Entities that are declared nowhere are read as those of HTML, or passed over.
    """
    data = _PLAIN_DOCTYPE.sub(b"", data[:_PROLOG], count=1) + data[_PROLOG:]
    parser = _streaming_parser(handler, encoding)
    for at in range(0, len(data), _CHUNK):
        parse(parser, data[at : at + _CHUNK], final=False)
        check_time()
    parse(parser, b"")


def _streaming_parser(handler: XmlHandler, encoding: str | None) -> expat.XMLParserType:
    parser = guarded_parser(encoding)
    names = _LocalNames()
    start, end = handler.start_element, handler.end_element
    parser.StartElementHandler = lambda name, attributes: start(names[name], attributes)
    parser.EndElementHandler = lambda name: end(names[name])
    parser.CharacterDataHandler = handler.text

    def read_nothing(context: str | None, *_place: object) -> int:
        parser.ExternalEntityParserCreate(context).Parse(b" ", True)
        return 1

    # A DTD that might stand elsewhere makes an unknown entity a gap, not an error; it is never looked for: what
    # is read in its place is empty.
    parser.UseForeignDTD(True)
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.ExternalEntityRefHandler = read_nothing
    parser.SkippedEntityHandler = lambda name, _parameter: handler.text(html5.get(f"{name};", ""))
    return parser


class ElementHandler:
    """Hands over each element at its end, for small parts of documents.

    `take` gets its name and attributes, the text right before its end, and the elements around it, the root first.
    """

    def __init__(self, take: TakeElement) -> None:
        self._take = take
        self._open: list[tuple[str, Mapping[str, str]]] = []
        self._texts: list[str] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        self._open.append((name, attributes))
        self._texts.clear()

    def end_element(self, name: str) -> None:
        """Hand over an element."""
        text = "".join(self._texts)
        self._texts.clear()
        _, attributes = self._open.pop()
        self._take(name, attributes, text, self._open)

    def text(self, data: str) -> None:
        """Take characters."""
        self._texts.append(data)


class _LocalNames(dict[str, str]):
    """Local names by qualified ones; kept, as long as there are few of them."""

    def __missing__(self, qualified: str) -> str:
        name = local_name(qualified)
        if len(self) < _MOST_NAMES:
            self[qualified] = name
        return name


def local_name(name: str) -> str:
    """Return a qualified name without its prefix, in lower case."""
    return name.rpartition(":")[2].lower()


def attribute(attributes: Mapping[str, str], name: str) -> str:
    """Return an attribute by its local name, or empty."""
    return next((value for key, value in attributes.items() if local_name(key) == name), "")
