"""Parser for untrusted XML: no DTDs, no entities, no external resources.

All readers of XML use `guarded_parser` and `parse`, which refuse DTDs. `read_xml` passes elements with their text, for
sitemaps and lists, `read_tree` elements with all that is in them, for feeds; both repair common mistakes, and name
elements by their namespaces. `stream_xml` passes events in document order, for documents of any size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html.entities import html5
from typing import Protocol
from urllib.parse import urljoin
from xml.parsers import expat

from ultracrawl.content.charset.decoding import find_charset
from ultracrawl.dataclass import dataclass, field

_DECLARATION = re.compile(r"<\?xml[^<>]*\?>")
_AMPERSAND = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)(?:([a-zA-Z][a-zA-Z0-9]{0,30});)?"
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_PLAIN_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[\]<>]*>")
_PROLOG_BYTES = 4096
_CHUNK_BYTES = 1 << 16
_MAX_NAMES = 1000
_MAX_SCOPES = 100
"""Elements inside each other that declare namespaces; what further ones declare is ignored."""
_SPACES = {
    "http://www.w3.org/2005/atom": "atom",
    "http://purl.org/atom/ns#": "atom",
    "http://purl.org/dc/elements/1.0": "dc",
    "http://purl.org/dc/elements/1.1": "dc",
    "http://purl.org/dc/terms": "dcterms",
    "http://purl.org/rss/1.0/modules/content": "content",
    "http://search.yahoo.com/mrss": "media",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "http://www.w3.org/1999/xhtml": "xhtml",
}
"""What elements of these namespaces are called; namespaces in lower case, without a last slash."""
_USUAL_PREFIXES = frozenset({*_SPACES.values(), "image", "video", "news", "rdf"})
_OF_RSS = frozenset(
    {
        "http://purl.org/rss/1.0",
        "http://purl.org/net/rss1.1#",
        "http://my.netscape.com/rdf/simple/0.9",
        "http://channel.netscape.com/rdf/simple/0.9",
        "http://backend.userland.com/rss",
        "http://backend.userland.com/rss2",
        "http://backend.userland.com/rss091",
        "http://backend.userland.com/rss092",
        "http://blogs.law.harvard.edu/tech/rss",
        "http://cyber.law.harvard.edu/rss/rss.html",
    }
)
"""The namespaces that feeds of RSS have, or say that they have."""


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
    """Receives the elements of a document; names as `Scopes` makes them."""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Handle the start of an element; return False to stop parsing."""

    def end_element(self, name: str, text: str) -> None:
        """Handle the end of an element with its own text (without that of its children)."""


@dataclass(slots=True)
class XmlElement:
    """An element of a tree: its name as `Scopes` makes it, attributes as written, and texts and elements in order."""

    name: str
    attributes: Mapping[str, str]
    base: str
    """The URL that its addresses are relative to, by the `xml:base` of it and of those around it (XML Base, 3)."""
    parts: list[str | XmlElement] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own text, without that of its children."""
        return "".join(part for part in self.parts if isinstance(part, str)).strip()

    @property
    def children(self) -> list[XmlElement]:
        """The elements in it."""
        return [part for part in self.parts if not isinstance(part, str)]


class TreeEvents(Protocol):
    """Receives the elements of a document, each with its tree."""

    def start_tree(self, element: XmlElement, around: Sequence[XmlElement]) -> bool:
        """Handle the start of an element inside those of `around`, the root first; return False to stop parsing."""

    def end_tree(self, element: XmlElement, around: Sequence[XmlElement]) -> bool:
        """Handle the end of an element; return whether the element around it is to hold it."""


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
    the elements before it; an element that the end of the data cuts off has no text. Raises `XmlRefusedError` for a
    DOCTYPE with declarations or references.
    """
    return _read_repaired(data, content_type, _ElementReader(listener))


def read_tree(data: bytes, listener: TreeEvents, base: str, *, content_type: str = "") -> str:
    """Send the elements of the document at `base` to `listener`, each with what is in it; else as `read_xml`.

    A DOCTYPE without declarations is passed over, and nothing that it refers to is opened.
    """
    return _read_repaired(_without_doctype(data), content_type, _TreeReader(listener, base))


def _read_repaired(data: bytes, content_type: str, reader: _RepairedReader) -> str:
    charset = find_charset(data, content_type)
    text = _DECLARATION.sub("", data.decode(charset, "replace").lstrip("\ufeff"), count=1).lstrip()
    text = _AMPERSAND.sub(_repair_entity, _FORBIDDEN.sub("", text))
    repaired = text.encode("utf-8", "replace")
    try:
        parse(reader.parser, repaired)
    except XmlBrokenError as error:
        reader.close_open_elements(cut_off=reader.parser.ErrorByteIndex >= len(repaired))
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


class Scopes:
    """Names the elements of a document, whatever prefixes it gives to namespaces (Namespaces in XML, 6).

    An element is called by its local name in lower case if it has the namespace of the root, that of a kind of RSS, or
    none; `dc:date` if it has one of those in `_SPACES`; and `foreign:date` otherwise. A prefix that is not declared
    means what it usually means, or nothing.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._declared: list[tuple[int, Mapping[str, str]]] = []
        self._own = ""
        self._names: dict[str, str] = {}

    def enter(self, name: str, attributes: Mapping[str, str]) -> str:
        """Return what an element is called that begins."""
        self._depth += 1
        new = {key: value for key, value in attributes.items() if key.startswith("xmlns")}
        if new and len(self._declared) < _MAX_SCOPES:
            self._declared.append((self._depth, new))
            self._names = {}
        if self._depth == 1:
            self._own = self._space(name.rpartition(":")[0]) or ""
        called = self._names.get(name)
        if called is None:
            called = self._call(name)
            if len(self._names) < _MAX_NAMES:
                self._names[name] = called
        return called

    def leave(self) -> None:
        """Note that the innermost element ends."""
        if self._declared and self._declared[-1][0] == self._depth:
            self._declared.pop()
            self._names = {}
        self._depth -= 1

    def _space(self, prefix: str) -> str | None:
        """Return the namespace of a prefix; None if it is not declared."""
        key = f"xmlns:{prefix}" if prefix else "xmlns"
        return next((one[key] for _, one in reversed(self._declared) if key in one), None)

    def _call(self, qualified: str) -> str:
        prefix, _, local = qualified.rpartition(":")
        space = self._space(prefix)
        local = local.lower()
        if space is None:
            prefix = prefix.lower()
            return f"{prefix}:{local}" if prefix in _USUAL_PREFIXES else local
        plain = space.lower().rstrip("/")
        if not space or space == self._own or plain in _OF_RSS:
            return local
        return f"{_SPACES.get(plain, 'foreign')}:{local}"


class _RepairedReader:
    """What readers of repaired documents have in common."""

    def __init__(self) -> None:
        self.scopes = Scopes()
        self.parser = guarded_parser("utf-8", bare_doctype=True)
        self.parser.StartElementHandler = self.open_element
        self.parser.EndElementHandler = self.close_element
        self.parser.CharacterDataHandler = self.add_text

    def open_element(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        raise NotImplementedError

    def close_element(self, name: str) -> None:
        """Handle the end of an element."""
        raise NotImplementedError

    def add_text(self, data: str) -> None:
        """Handle text."""
        raise NotImplementedError

    def close_open_elements(self, *, cut_off: bool) -> None:
        """End the elements that a broken document left open, so that its last entry is not lost.

        With `cut_off` the text of the innermost one has no end, and is dropped: half an address is none.
        """
        raise NotImplementedError


class _ElementReader(_RepairedReader):
    """Combines expat's events to elements with their text."""

    def __init__(self, listener: XmlEvents) -> None:
        super().__init__()
        self._listener = listener
        self._open: list[tuple[str, list[str]]] = []

    def open_element(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        name = self.scopes.enter(name, attributes)
        self._open.append((name, []))
        if not self._listener.start_element(name, attributes):
            raise _EnoughError

    def close_element(self, name: str) -> None:
        """Handle the end of an element."""
        name, texts = self._open.pop()
        self.scopes.leave()
        self._listener.end_element(name, "".join(texts))

    def add_text(self, data: str) -> None:
        """Handle text."""
        if self._open:
            self._open[-1][1].append(data)

    def close_open_elements(self, *, cut_off: bool) -> None:
        """End what is open."""
        self.parser.buffer_text = False  # flushes the buffered text
        if cut_off and self._open:
            self._open[-1][1].clear()
        while self._open:
            self.close_element("")


class _TreeReader(_RepairedReader):
    """Combines expat's events to trees of elements."""

    def __init__(self, listener: TreeEvents, base: str) -> None:
        super().__init__()
        self._listener = listener
        self._base = base
        self._open: list[XmlElement] = []

    def open_element(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        base = self._open[-1].base if self._open else self._base
        if own := attributes.get("xml:base"):
            base = joined(base, own) or base
        element = XmlElement(self.scopes.enter(name, attributes), attributes, base)
        goes_on = self._listener.start_tree(element, self._open)
        self._open.append(element)
        if not goes_on:
            raise _EnoughError

    def close_element(self, name: str) -> None:
        """Handle the end of an element."""
        element = self._open.pop()
        self.scopes.leave()
        if self._listener.end_tree(element, self._open) and self._open:
            self._open[-1].parts.append(element)

    def add_text(self, data: str) -> None:
        """Handle text."""
        if self._open:
            self._open[-1].parts.append(data)

    def close_open_elements(self, *, cut_off: bool) -> None:
        """End what is open."""
        self.parser.buffer_text = False
        if cut_off and self._open and self._open[-1].parts:
            self._open[-1].parts.pop()
        while self._open:
            self.close_element("")


def joined(base: str, address: str) -> str:
    """Return an address as an absolute URL; empty if it is none."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def stream_xml(
    data: bytes, handler: XmlHandler, check_time: Callable[[], None], encoding: str | None = None
) -> None:
    """Send the events of `data` to `handler`; `encoding` overrides the declaration of the document.

    `check_time` is called after each chunk, and may raise. Raises `XmlBrokenError` after the events before the error,
    and `XmlRefusedError` for entity declarations. A DOCTYPE without declarations is removed, and nothing that it refers
    to is opened. Undeclared entities are expanded if HTML has them, and else ignored.
    """
    data = _without_doctype(data)
    parser = _streaming_parser(handler, encoding)
    for at in range(0, len(data), _CHUNK_BYTES):
        parse(parser, data[at : at + _CHUNK_BYTES], final=False)
        check_time()
    parse(parser, b"")


def _without_doctype(data: bytes) -> bytes:
    """Return a document without a DOCTYPE that declares nothing."""
    return _PLAIN_DOCTYPE.sub(b"", data[:_PROLOG_BYTES], count=1) + data[_PROLOG_BYTES:]


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
