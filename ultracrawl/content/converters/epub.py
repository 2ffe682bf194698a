"""Electronic books (EPUB 2 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.convert import add_html
from ultracrawl.content.converters.office.package import DUBLIN_CORE, Package, Properties
from ultracrawl.content.xml import attribute, stream_xml

_NAMES = {**DUBLIN_CORE, "date": "created", "subject": "keywords"}


def convert(source: Source, sink: Sink) -> None:
    """Read metadata and the chapters in their order; links between chapters are left out."""
    package = Package(source.body, sink.budget)
    container = _Container()
    stream_xml(package.read("META-INF/container.xml"), container, sink.budget.check_time)
    if container.path not in package:
        raise ConversionError("the file is no electronic book: it names no package document")
    book = _PackageDocument(sink)
    stream_xml(package.read(container.path), book, sink.budget.check_time)
    chapters = book.chapters(dirname(container.path))
    for number, name in enumerate(chapters):
        sink.budget.check_time(f"{number} of {len(chapters)} chapters")
        sink.budget.take_member()
        inner = sink.inner()
        add_html(package.read(name), inner, xml=True)


class _Container:
    """Finds the package document."""

    def __init__(self) -> None:
        self.path = ""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "rootfile" and not self.path:
            self.path = attribute(attributes, "full-path")

    def end_element(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


class _PackageDocument(Properties):
    """Reads metadata, manifest and the order of reading."""

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink, _NAMES)
        self._files: dict[str, str] = {}
        self._order: list[str] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        super().start_element(name, attributes)
        if name == "item":
            self._files[attribute(attributes, "id")] = attribute(attributes, "href")
        elif name == "itemref":
            self._order.append(attribute(attributes, "idref"))

    def chapters(self, folder: str) -> list[str]:
        """Return the names of the chapters inside the book."""
        hrefs = [self._files[item] for item in self._order if item in self._files]
        return [normpath(join(folder, unquote(href.partition("#")[0]))) for href in hrefs]
