"""Reads XML of office documents as a stream of events: no DTD, no entities, nothing fetched, bounded in time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.entities import html5
from typing import Protocol
from xml.parsers import expat

from ultracrawl.content.converters.budget import Budget
from ultracrawl.content.converters.errors import ConversionError

_CHUNK = 1 << 16
_PLAIN_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[\]<>]*>")
_PROLOG = 4096


class XmlHandler(Protocol):
    """Who listens to a document; names come without their prefix, in lower case."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element; names of attributes are as written."""

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, data: str) -> None:
        """Take characters, in document order."""


def stream_xml(data: bytes, handler: XmlHandler, budget: Budget, encoding: str | None = None) -> None:
    """Send the events of `data` to `handler`; `encoding` wins over what the document declares.

    Raises `ConversionError` for broken XML, after the events before the break, and for declarations of entities.
    A DOCTYPE that declares nothing itself is dropped, and nothing that it refers to is read. Entities that are declared
    nowhere are read as those of HTML, or passed over.
    """
    data = _PLAIN_DOCTYPE.sub(b"", data[:_PROLOG], count=1) + data[_PROLOG:]
    parser = _parser(handler, encoding)
    try:
        for at in range(0, len(data), _CHUNK):
            parser.Parse(data[at : at + _CHUNK], False)
            budget.check_time()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ConversionError(f"broken XML: {expat.errors.messages.get(error.code, 'error')}") from None


def _parser(handler: XmlHandler, encoding: str | None) -> expat.XMLParserType:
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: handler.start(local(name), attributes)
    parser.EndElementHandler = lambda name: handler.end(local(name))
    parser.CharacterDataHandler = handler.text
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    # A DTD that might stand elsewhere makes an unknown entity a gap, not an error; it is never looked for.
    parser.UseForeignDTD(True)
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.ExternalEntityRefHandler = lambda context, *_place: _read_nothing(parser, context)
    parser.SkippedEntityHandler = lambda name, _parameter: handler.text(html5.get(f"{name};", ""))
    return parser


def _read_nothing(parser: expat.XMLParserType, context: str | None) -> int:
    """Read an empty DTD in place of one that stands elsewhere."""
    parser.ExternalEntityParserCreate(context).Parse(b" ", True)
    return 1


def _refuse(*_declaration: object) -> None:
    raise ConversionError("the XML brings a DTD")


def local(name: str) -> str:
    """Return a qualified name without its prefix, in lower case."""
    return name.rpartition(":")[2].lower()


def attribute(attributes: Mapping[str, str], name: str) -> str:
    """Return an attribute by its local name, or empty."""
    return next((value for key, value in attributes.items() if local(key) == name), "")
