"""Converter for electronic books (EPUB 2 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.convert import add_html
from ultracrawl.content.converters.office.package import DUBLIN_CORE, Package, add_property
from ultracrawl.content.xml import ElementHandler, attribute, stream_xml

_NAMES = {**DUBLIN_CORE, "date": "created", "subject": "keywords"}


def convert(source: Source, sink: Sink) -> None:
    """Convert metadata and chapters in reading order; links between chapters are left out."""
    package = Package(source.body, sink.budget)
    path = _package_path(package, sink)
    if path not in package:
        raise ConversionError("the file is not an EPUB book: it has no package document")
    chapters = _read_package(package.read(path), dirname(path), sink)
    for number, name in enumerate(chapters):
        sink.budget.check_time(f"{number} of {len(chapters)} chapters")
        sink.budget.take_member()
        inner = sink.inner()
        add_html(package.read(name), inner, xml=True)


def _package_path(package: Package, sink: Sink) -> str:
    """Return the name of the package document, empty if there is none."""
    paths: list[str] = []

    def on_element(name: str, attributes: Mapping[str, str], *_: object) -> None:
        if name == "rootfile":
            paths.append(attribute(attributes, "full-path"))

    stream_xml(package.read("META-INF/container.xml"), ElementHandler(on_element), sink.budget.check_time)
    return next(filter(None, paths), "")


def _read_package(data: bytes, folder: str, sink: Sink) -> list[str]:
    """Add the metadata of a book; return the names of its chapters in reading order."""
    files: dict[str, str] = {}
    order: list[str] = []

    def on_element(name: str, attributes: Mapping[str, str], text: str, _: object) -> None:
        add_property(name, text, sink, _NAMES)
        if name == "item":
            files[attribute(attributes, "id")] = attribute(attributes, "href")
        elif name == "itemref":
            order.append(attribute(attributes, "idref"))

    stream_xml(data, ElementHandler(on_element), sink.budget.check_time)
    hrefs = [files[item] for item in order if item in files]
    return [normpath(join(folder, unquote(href.partition("#")[0]))) for href in hrefs]
