"""Reading XML from strangers: no DTD, no entities, nothing fetched; lenient about common mistakes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.entities import html5
from typing import Protocol
from xml.parsers import expat

from ultracrawl.content.charset.decoding import find_charset

_DECLARATION = re.compile(r"<\?xml[^<>]*\?>")
_AMPERSAND = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)(?:([a-zA-Z][a-zA-Z0-9]{0,30});)?"
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class XmlRefusedError(ValueError):
    """The document declares a DTD with entities or outside parts; it is not read at all."""


class XmlEvents(Protocol):
    """Who listens to a document; `name` is without its namespace prefix, in lower case."""

    def start(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Take the start of an element; return False to stop reading here."""

    def end(self, name: str, text: str) -> None:
        """Take the end of an element with the text that stood directly in it."""


def read_xml(data: bytes, listener: XmlEvents, *, content_type: str = "") -> str:
    """Send the elements of `data` to `listener`; return what is wrong with the document, or empty.

    Bare ampersands, HTML entities and control characters are mended. Reading ends at the first other
    mistake, and what was read until then counts. Raises `XmlRefusedError` on a DOCTYPE that declares or
    refers to anything.
    """
    charset = find_charset(data, content_type)
    text = _DECLARATION.sub("", data.decode(charset, "replace").lstrip("\ufeff"), count=1).lstrip()
    text = _AMPERSAND.sub(_mend, _FORBIDDEN.sub("", text))
    reader = _Reader(listener)
    try:
        reader.parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        reader.close_open_elements()
        return expat.errors.messages.get(error.code, "broken XML")
    except _EnoughError:
        return ""
    return ""


def _mend(found: re.Match[str]) -> str:
    meaning = html5.get(f"{found[1]};") if found[1] else None
    if meaning is None or meaning in "&<":
        return "&amp;" + found[0][1:]
    return meaning


class _EnoughError(Exception):
    """The listener has all it wants."""


class _Reader:
    """Joins expat's small events to elements with their text."""

    def __init__(self, listener: XmlEvents) -> None:
        self._listener = listener
        self._open: list[tuple[str, list[str]]] = []
        self._names: dict[str, str] = {}
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._entity

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = self._names.get(name) or self._name(name)
        self._open.append((name, []))
        if not self._listener.start(name, attributes):
            raise _EnoughError

    def _name(self, qualified: str) -> str:
        """Return the local name; kept, as long as there are few of them."""
        name = local_name(qualified)
        if len(self._names) < 1000:
            self._names[qualified] = name
        return name

    def _end(self, _name: str) -> None:
        name, texts = self._open.pop()
        self._listener.end(name, "".join(texts))

    def close_open_elements(self) -> None:
        """End what a broken document left open, so that its last entry is not lost."""
        self.parser.buffer_text = False  # hands over the text that it holds back
        while self._open:
            self._end("")

    def _characters(self, data: str) -> None:
        if self._open:
            self._open[-1][1].append(data)

    def _doctype(
        self, _name: str, system_id: str | None, _public_id: str | None, has_internal_subset: bool
    ) -> None:
        if system_id or has_internal_subset:
            raise XmlRefusedError("the document brings a DTD")

    def _entity(self, *_declaration: object) -> None:
        raise XmlRefusedError("the document declares entities")


def local_name(name: str) -> str:
    """Return a qualified name without its prefix, in lower case."""
    return name.rpartition(":")[2].lower()
