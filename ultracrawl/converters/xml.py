"""XML of any kind, feeds and SVG among it: the text in document order, and what looks like a link."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.converters.convert import Source
from ultracrawl.converters.properties import DUBLIN_CORE
from ultracrawl.converters.sink import Sink
from ultracrawl.converters.xmlstream import attribute, stream_xml

_TITLES = frozenset({"title"})
_UNREAD = frozenset({"style", "script"})
_LINKS = frozenset({"link", "loc"})


def convert(source: Source, sink: Sink) -> None:
    """Read text element by element; broken XML gives the text before the break, and an error."""
    stream_xml(source.body, _AnyXml(sink), sink.budget)


class _AnyXml:
    """Takes all text; the first title and Dublin Core are metadata too, absolute `href` and `link` are links."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._texts: list[str] = []
        self._unread = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._flush()
        self._unread += name in _UNREAD
        self._sink.set_language(attributes.get("xml:lang", ""))
        self._sink.absolute_links([attribute(attributes, "href"), attribute(attributes, "src")])

    def end(self, name: str) -> None:
        self._unread -= name in _UNREAD
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
        if not self._unread:
            self._texts.append(data)

    def _flush(self) -> str:
        text = "".join(self._texts).strip()
        self._texts.clear()
        if text:
            self._sink.add(text)
        return text
