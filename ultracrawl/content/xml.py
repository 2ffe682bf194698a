"""Parser for untrusted XML: no DTDs, no entities, no external resources.

All readers of XML use `guarded_parser` and `parse`, which refuse DTDs. `read_xml` passes elements with their text and
repairs common mistakes, for sitemaps, feeds and lists; `stream_xml` passes events in document order, for documents of
any size.
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
_PROLOG_BYTES = 4096
_CHUNK_BYTES = 1 << 16
_MAX_NAMES = 1000


class XmlError(ValueError):
    """The document was not parsed, or not to its end; `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


class XmlRefusedError(XmlError):
    """The document has a DTD."""


class XmlBrokenError(XmlError):
    """The document is not well-formed; the text is the parser's."""


class XmlEvents(Protocol):
    """Receives the elements of a document; names without namespace prefix, in lower case."""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Handle the start of an element; return False to stop parsing."""

    def end_element(self, name: str, text: str) -> None:
        """Handle the end of an element with its own text (without that of its children)."""


class XmlHandler(Protocol):
    """Receives a stream of events; element names without prefix, in lower case."""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element; names of attributes are as written."""

    def end_element(self, name: str) -> None:
        """Handle the end of an element."""

    def text(self, data: str) -> None:
        """Handle characters, in document order."""


ElementCallback = Callable[[str, Mapping[str, str], str, Sequence[tuple[str, Mapping[str, str]]]], None]


def guarded_parser(encoding: str | None, *, bare_doctype: bool = False) -> expat.XMLParserType:
    """Return a parser that raises `XmlRefusedError` at a DOCTYPE, before any of it is processed.

    So no entity is expanded, and no resource is opened. `bare_doctype` allows a DOCTYPE without declarations and
    references. `encoding` overrides the declaration of the document.
    """
    parser = expat.ParserCreate(encoding)

    def refuse(*_declaration: object) -> int:
        raise XmlRefusedError(parser.CurrentLineNumber, "the document has a DTD")

    def doctype(_name: str, system_id: str | None, _public_id: str | None, has_subset: bool) -> None:
        if system_id or has_subset or not bare_doctype:
            refuse()

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    return parser


def parse(parser: expat.XMLParserType, data: bytes, *, final: bool = True) -> None:
    """Parse bytes. Raises `XmlBrokenError` after the events before the error."""
    try:
        parser.Parse(data, final)
    except expat.ExpatError as error:
        raise XmlBrokenError(error.lineno, expat.errors.messages.get(error.code, "it is broken")) from None


def read_xml(data: bytes, listener: XmlEvents, *, content_type: str = "") -> str:
    """Send the elements of `data` to `listener`; return the error in the document, or empty.

    Bare ampersands, HTML entities and control characters are repaired. Parsing ends at the first other error, after
    the elements before it. Raises `XmlRefusedError` for a DOCTYPE with declarations or references.
    """
    charset = find_charset(data, content_type)
    text = _DECLARATION.sub("", data.decode(charset, "replace").lstrip("\ufeff"), count=1).lstrip()
    text = _AMPERSAND.sub(_repair_entity, _FORBIDDEN.sub("", text))
    reader = _ElementReader(listener)
    try:
        parse(reader.parser, text.encode("utf-8", "replace"))
    except XmlBrokenError as error:
        reader.close_open_elements()
        return str(error)
    except _EnoughError:
        return ""
    return ""


def _repair_entity(match: re.Match[str]) -> str:
    character = html5.get(f"{match[1]};") if match[1] else None
    if character is None or character in "&<":
        return "&amp;" + match[0][1:]
    return character


class _EnoughError(Exception):
    """The listener stopped parsing."""


class _ElementReader:
    """Combines expat's events to elements with their text."""

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
        """End the elements that a broken document left open, so that its last entry is not lost."""
        self.parser.buffer_text = False  # flushes the buffered text
        while self._open:
            self._end("")

    def _characters(self, data: str) -> None:
        if self._open:
            self._open[-1][1].append(data)


def stream_xml(
    data: bytes, handler: XmlHandler, check_time: Callable[[], None], encoding: str | None = None
) -> None:
    """Send the events of `data` to `handler`; `encoding` overrides the declaration of the document.

    `check_time` is called after each chunk, and may raise. Raises `XmlBrokenError` after the events before the error,
    and `XmlRefusedError` for entity declarations. A DOCTYPE without declarations is removed, and nothing that it refers
    to is opened. Undeclared entities are expanded if HTML has them, and else ignored.
    """
    data = _PLAIN_DOCTYPE.sub(b"", data[:_PROLOG_BYTES], count=1) + data[_PROLOG_BYTES:]
    parser = _streaming_parser(handler, encoding)
    for at in range(0, len(data), _CHUNK_BYTES):
        parse(parser, data[at : at + _CHUNK_BYTES], final=False)
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

    # With a foreign DTD unknown entities are skipped and not errors; an empty one is read in its place.
    parser.UseForeignDTD(True)
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.ExternalEntityRefHandler = read_nothing
    parser.SkippedEntityHandler = lambda name, _parameter: handler.text(html5.get(f"{name};", ""))
    return parser


class ElementHandler:
    """Passes each element to a callback at its end, for small parts of documents.

    The callback gets name, attributes, the text right before the end tag, and the ancestors, the root first.
    """

    def __init__(self, on_element: ElementCallback) -> None:
        self._on_element = on_element
        self._open: list[tuple[str, Mapping[str, str]]] = []
        self._texts: list[str] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        """Start an element."""
        self._open.append((name, attributes))
        self._texts.clear()

    def end_element(self, name: str) -> None:
        """Pass an element to the callback."""
        text = "".join(self._texts)
        self._texts.clear()
        _, attributes = self._open.pop()
        self._on_element(name, attributes, text, self._open)

    def text(self, data: str) -> None:
        """Add characters."""
        self._texts.append(data)


class _LocalNames(dict[str, str]):
    """Cache of local names by qualified names, up to `_MAX_NAMES`."""

    def __missing__(self, qualified: str) -> str:
        name = local_name(qualified)
        if len(self) < _MAX_NAMES:
            self[qualified] = name
        return name


def local_name(name: str) -> str:
    """Return a qualified name without its prefix, in lower case."""
    return name.rpartition(":")[2].lower()


def attribute(attributes: Mapping[str, str], name: str) -> str:
    """Return an attribute by its local name, or empty."""
    return next((value for key, value in attributes.items() if local_name(key) == name), "")
