"""XMP packets (ISO 16684) in images and PDF files: Dublin Core and dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ultracrawl.content.converters.conversion import Sink
from ultracrawl.content.converters.office.package import DUBLIN_CORE
from ultracrawl.content.xml import ElementHandler, attribute, local_name, stream_xml

_START, _END = b"<x:xmpmeta", b"</x:xmpmeta>"
_MAX_PACKET_BYTES = 200_000
_LIST_PROPERTIES = frozenset({"title", "language", *DUBLIN_CORE})
_DATES = {"createdate": "created", "modifydate": "modified"}


def read_xmp(body: bytes, sink: Sink) -> None:
    """Add the first packet of a file, if it has one; metadata already in the sink is not overwritten.

    Values of properties are items of lists; dates are attributes or elements.
    """
    start = body.find(_START)
    end = body.find(_END, start, start + _MAX_PACKET_BYTES) if start >= 0 else -1
    if end < 0:
        return
    stream_xml(body[start : end + len(_END)], _packet_handler(sink), sink.budget.check_time)


def _packet_handler(sink: Sink) -> ElementHandler:
    known = frozenset(sink.metadata)

    def meta(name: str, value: str) -> None:
        if name not in known:
            sink.meta(name, value)

    def on_element(
        name: str, attributes: Mapping[str, str], text: str, around: Sequence[tuple[str, Mapping[str, str]]]
    ) -> None:
        if name == "description" and any(local_name(key) == "about" for key in attributes):
            for xmp_name, our_name in _DATES.items():  # this is rdf:Description, not dc:description
                meta(our_name, attribute(attributes, xmp_name))
        elif name in _DATES:
            meta(_DATES[name], text)
        elif name == "li":
            add_value(next((outer for outer, _ in around[-2:] if outer in _LIST_PROPERTIES), ""), text)

    def add_value(owner: str, value: str) -> None:
        if owner == "title":
            sink.set_title(value)
        elif owner == "language":
            sink.set_language(value)
        elif owner:
            meta("keywords" if owner == "subject" else DUBLIN_CORE[owner], value)

    return ElementHandler(on_element)
