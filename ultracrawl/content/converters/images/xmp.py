"""XMP packets (ISO 16684), which images and PDF files carry as plain XML: their Dublin Core and their date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ultracrawl.content.converters.conversion import Sink
from ultracrawl.content.converters.office.package import DUBLIN_CORE
from ultracrawl.content.xml import ElementHandler, attribute, local_name, stream_xml

_START, _END = b"<x:xmpmeta", b"</x:xmpmeta>"
_LONGEST = 200_000
_READ = frozenset({"title", "language", *DUBLIN_CORE})
_DATES = {"createdate": "created", "modifydate": "modified"}


def read_xmp(body: bytes, sink: Sink) -> None:
    """Read the first packet in a file, if it has one. What the sink knows already stays as it is.

    Values of properties are items of lists; dates are attributes or elements.
    """
    start = body.find(_START)
    end = body.find(_END, start, start + _LONGEST) if start >= 0 else -1
    if end < 0:
        return
    known = frozenset(sink.metadata)

    def meta(name: str, value: str) -> None:
        if name not in known:
            sink.meta(name, value)

    def take_element(
        name: str, attributes: Mapping[str, str], text: str, around: Sequence[tuple[str, Mapping[str, str]]]
    ) -> None:
        if name == "description" and any(local_name(key) == "about" for key in attributes):
            for written, ours in _DATES.items():  # this is rdf:Description, not dc:description
                meta(ours, attribute(attributes, written))
        elif name in _DATES:
            meta(_DATES[name], text)
        elif name == "li":
            take_value(next((outer for outer, _ in around[-2:] if outer in _READ), ""), text)

    def take_value(owner: str, value: str) -> None:
        if owner == "title":
            sink.set_title(value)
        elif owner == "language":
            sink.set_language(value)
        elif owner:
            meta("keywords" if owner == "subject" else DUBLIN_CORE[owner], value)

    stream_xml(body[start : end + len(_END)], ElementHandler(take_element), sink.budget.check_time)
