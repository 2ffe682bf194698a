"""XMP packets (ISO 16684), which images and PDF files carry as plain XML: their Dublin Core and their date."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.content.converters.conversion import Sink
from ultracrawl.content.converters.office.package import DUBLIN_CORE
from ultracrawl.content.xml import attribute, local_name, stream_xml

_START, _END = b"<x:xmpmeta", b"</x:xmpmeta>"
_LONGEST = 200_000
_READ = frozenset({"title", "language", *DUBLIN_CORE})
_DATES = ("createdate", "modifydate")
_DATE_NAMES = {"createdate": "created", "modifydate": "modified"}


def read_xmp(body: bytes, sink: Sink) -> None:
    """Read the first packet in a file, if it has one. What the sink knows already stays as it is."""
    start = body.find(_START)
    end = body.find(_END, start, start + _LONGEST) if start >= 0 else -1
    if end >= 0:
        stream_xml(body[start : end + len(_END)], _Packet(sink), sink.budget.check_time)


class _Packet:
    """Reads properties, whose values are items of lists, and dates, which are attributes or elements."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._known = frozenset(sink.metadata)
        self._property = ""
        self._texts: list[str] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        self._texts.clear()
        if name == "description" and any(local_name(key) == "about" for key in attributes):
            for date in _DATES:  # this is rdf:Description, not dc:description
                self._meta(_DATE_NAMES[date], attribute(attributes, date))
        elif name in _READ and not self._property:
            self._property = name

    def end_element(self, name: str) -> None:
        value = "".join(self._texts).strip()
        self._texts.clear()
        if name == "li" and self._property:
            self._take(value)
        elif name == self._property:
            self._property = ""
        elif name in _DATES:
            self._meta(_DATE_NAMES[name], value)

    def text(self, data: str) -> None:
        self._texts.append(data)

    def _take(self, value: str) -> None:
        if self._property == "title":
            self._sink.set_title(value)
        elif self._property == "language":
            self._sink.set_language(value)
        else:
            self._meta("keywords" if self._property == "subject" else DUBLIN_CORE[self._property], value)

    def _meta(self, name: str, value: str) -> None:
        if name not in self._known:
            self._sink.meta(name, value)
