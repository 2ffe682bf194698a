"""Parses XML into a tree of elements with line numbers: no DTD, no entities, no external files, limited size."""

from __future__ import annotations

import re

from ultracrawl.content.xml import XmlBrokenError, XmlRefusedError, guarded_parser, parse
from ultracrawl.dataclass import dataclass, field

MAX_DEPTH = 32
"""Maximum nesting of elements; a configuration needs about eight."""
MAX_ELEMENTS = 2_000_000
"""Maximum number of elements in a document."""
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)""")
_KNOWN = frozenset({b"utf-8", b"utf-16", b"iso-8859-1", b"us-ascii"})
"""Encodings that expat supports."""


class DocumentError(ValueError):
    """The document is malformed or refused; `line` counts from 1."""

    def __init__(self, line: int, problem: str, instead: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem
        self.instead = instead


@dataclass(slots=True)
class Element:
    """An element: name and attributes as written, its direct text, and its children."""

    name: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""


def parse_document(data: bytes) -> Element:
    """Return the root of a document. Raises `DocumentError`.

    The encoding is that of the XML declaration, by default UTF-8. A DOCTYPE is refused before it has any effect, so
    that no entity is expanded and no other file is opened.
    """
    readable, encoding = _readable(data)
    try:
        return _TreeBuilder(encoding).build(readable)
    except XmlRefusedError as error:
        problem, instead = "declares a document type (DTD)", "remove the DOCTYPE and what it declares"
        raise DocumentError(error.line, problem, instead) from None
    except XmlBrokenError as error:
        problem, instead = f"is not well-formed XML: {error}", "correct the file near this line"
        raise DocumentError(error.line, problem, instead) from None


def _readable(data: bytes) -> tuple[bytes, str | None]:
    """Return the document in an encoding that expat supports, and that encoding if it overrides the declared one."""
    found = _DECLARED.match(data)
    if found is None or found[1].lower() in _KNOWN:
        return data, None
    name = found[1].decode("ascii")
    try:
        return data.decode(name).encode(), "utf-8"
    except LookupError as error:
        raise DocumentError(1, f"has an encoding that is not known: {error}", "save it as UTF-8") from None
    except UnicodeError as error:
        line = data.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise DocumentError(
            line, f"has bytes that are not {name}, as it says it is", "save it as UTF-8"
        ) from None


class _TreeBuilder:
    """Builds the tree from expat events."""

    def __init__(self, encoding: str | None) -> None:
        self._open: list[tuple[Element, list[str]]] = []
        self._root: Element | None = None
        self._count = 0
        self._parser = parser = guarded_parser(encoding)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text

    def build(self, data: bytes) -> Element:
        parse(self._parser, data)
        assert self._root is not None
        return self._root

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        line = self._parser.CurrentLineNumber
        if len(self._open) >= MAX_DEPTH:
            raise DocumentError(
                line, f"has more than {MAX_DEPTH} elements inside each other", "write flatter XML"
            )
        if self._count > MAX_ELEMENTS:
            raise DocumentError(
                line, f"has more than {MAX_ELEMENTS:,} elements", "split it into several files"
            )
        element = Element(name, line, attributes)
        if self._open:
            self._open[-1][0].children.append(element)
        else:
            self._root = element
        self._open.append((element, []))

    def _end(self, _name: str) -> None:
        element, texts = self._open.pop()
        element.text = "".join(texts)

    def _text(self, data: str) -> None:
        self._open[-1][1].append(data)
