"""Converter for any XML, such as feeds and SVG: the text in document order, and probable links."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.charset.prescan import charset_parameter, declared_in_xml
from ultracrawl.content.converters.conversion import Sink, Source
from ultracrawl.content.converters.office.package import DUBLIN_CORE
from ultracrawl.content.xml import attribute, stream_xml

_TITLES = frozenset({"title"})
_SKIPPED = frozenset({"style", "script", "bindata", "binary-data"})
_LINKS = frozenset({"link", "loc"})
_DECLARES_ENCODING = re.compile(rb"<\?xml\s[^>]*?\bencoding\b")


def convert(source: Source, sink: Sink) -> None:
    """Convert element by element; broken XML has the text before the error, and raises."""
    handler = _AnyXml(sink)
    if _is_left_to_parser(source):
        stream_xml(source.body, handler, sink.budget.check_time)
        return
    text, _ = decode(source.body, source.content_type, source.default_charset)
    stream_xml(text.encode("utf-8", "replace"), handler, sink.budget.check_time, "utf-8")


def _is_left_to_parser(source: Source) -> bool:
    """Return whether the XML parser has to decode the document: it declares an encoding that the web does not know.

    The parser knows some of these, but no multi-byte encodings, and it ignores headers.
    """
    declares = _DECLARES_ENCODING.match(source.body) is not None
    return declares and not declared_in_xml(source.body) and not charset_parameter(source.content_type)


class _AnyXml:
    """Collects all text; the first title and Dublin Core are metadata as well, absolute `href` and `link` are links."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._texts: list[str] = []
        self._skipped = 0

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        self._flush()
        self._skipped += name in _SKIPPED
        self._sink.set_language(attributes.get("xml:lang", ""))
        self._sink.absolute_links([attribute(attributes, "href"), attribute(attributes, "src")])

    def end_element(self, name: str) -> None:
        self._skipped -= name in _SKIPPED
        text = self._flush()
        if not text:
            return
        if name in _TITLES:
            self._sink.set_title(text)
        elif name in _LINKS:
            self._sink.absolute_links([text])
        elif name == "language":
            self._sink.set_language(text)
        elif name in DUBLIN_CORE and DUBLIN_CORE[name] not in self._sink.metadata:
            self._sink.meta(DUBLIN_CORE[name], text)

    def text(self, data: str) -> None:
        if not self._skipped:
            self._texts.append(data)

    def _flush(self) -> str:
        text = "".join(self._texts).strip()
        self._texts.clear()
        if text:
            self._sink.add(text)
        return text
