"""Zip files that are documents: their members, their properties and their paragraphs, within the budget."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from ultracrawl.content.converters.conversion import Budget, ConversionError, Sink
from ultracrawl.content.xml import XmlHandler, attribute, stream_xml

_OLE = b"\xd0\xcf\x11\xe0"
_CHUNK = 1 << 16
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


class Package:
    """The members of a zip file by name. Raises `ConversionError` if it is none."""

    def __init__(self, body: bytes, budget: Budget) -> None:
        if body.startswith(_OLE):
            raise ConversionError("the document is encrypted, or in an older format than it claims")
        self._budget = budget
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except _BROKEN as error:
            raise ConversionError(f"broken zip file: {error}") from None
        self.names: tuple[str, ...] = tuple(
            info.filename for info in self._zip.infolist() if not info.is_dir()
        )
        """Names as written in the file; they are labels and no paths."""
        self._known = frozenset(self.names)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def read(self, name: str) -> bytes:
        """Return a member; empty if there is none of that name.

        Raises `ConversionError` for a broken or encrypted one, `LimitReachedError` when it unfolds to too much.
        """
        if name not in self._known:
            return b""
        if self._zip.getinfo(name).flag_bits & 1:
            raise ConversionError("the document is encrypted")
        pieces: list[bytes] = []
        try:
            with self._zip.open(name) as member:
                while piece := member.read(_CHUNK):
                    self._budget.take_unpacked(len(piece))
                    pieces.append(piece)
        except _BROKEN as error:
            raise ConversionError(f"broken zip file: {error}") from None
        return b"".join(pieces)

    def check_sizes(self) -> None:
        """Account for all members by the sizes that the file states, for a library that reads it as a whole."""
        self._budget.take_unpacked(sum(info.file_size for info in self._zip.infolist()))


class Paragraphs:
    """Gathers runs of text until a paragraph ends; runs of one paragraph are joined without blanks."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._runs: list[str] = []

    def add(self, text: str) -> None:
        """Add a run."""
        self._runs.append(text)

    def end_paragraph(self) -> None:
        """End the paragraph, if one is open."""
        if self._runs:
            text = "".join(self._runs)
            self._runs.clear()
            self._sink.add(text)


DUBLIN_CORE = {
    "creator": "author",
    "subject": "subject",
    "description": "description",
    "publisher": "publisher",
    "rights": "rights",
    "identifier": "identifier",
    "contributor": "contributor",
}
_OFFICE = {
    **DUBLIN_CORE,
    "lastmodifiedby": "last_modified_by",
    "created": "created",
    "modified": "modified",
    "category": "category",
    "application": "application",
    "company": "company",
    "manager": "manager",
    "pages": "pages",
    "slides": "pages",
    "words": "words",
}
_LONGEST_NAME = 100


class Properties:
    """Hands the text of elements to a sink, each under the name that a table gives it."""

    def __init__(self, sink: Sink, names: Mapping[str, str], keywords: str = "keywords") -> None:
        self._sink = sink
        self._names = names
        self._keywords = keywords
        self._texts: list[str] = []

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        self._texts.clear()

    def end_element(self, name: str) -> None:
        """Take the value of an element."""
        value = "".join(self._texts)
        self._texts.clear()
        if name == "title":
            self._sink.set_title(value)
        elif name == "language":
            self._sink.set_language(value)
        elif name == self._keywords:
            self._sink.keywords(value)
        elif name in self._names and value.strip() != "0":  # programs that do not count write 0
            self._sink.meta(self._names[name], value)

    def text(self, data: str) -> None:
        """Take characters."""
        self._texts.append(data)


class _Shallow:
    """Shows a handler only the elements right below the root: deeper titles are those of parts."""

    def __init__(self, handler: XmlHandler) -> None:
        self._handler = handler
        self._depth = 0

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth == 2:
            self._handler.start_element(name, attributes)

    def end_element(self, name: str) -> None:
        if self._depth == 2:
            self._handler.end_element(name)
        self._depth -= 1

    def text(self, data: str) -> None:
        if self._depth == 2:
            self._handler.text(data)


class _CustomProperties:
    """Takes the properties that people made, each under `custom.` and its name in lower case."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._name = ""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "property":
            self._name = attribute(attributes, "name")

    def end_element(self, name: str) -> None: ...

    def text(self, data: str) -> None:
        take_custom(self._name, data, self._sink)


def take_custom(name: str, value: str, sink: Sink) -> None:
    """Take a property that people made: `Cost Centre` is the document attribute `custom.cost centre`."""
    folded = " ".join(name.lower().split())[:_LONGEST_NAME]
    if folded:
        sink.meta(f"custom.{folded}", value)


def read_office_properties(package: Package, sink: Sink) -> None:
    """Read `docProps` of Office Open XML."""
    for name in ("docProps/core.xml", "docProps/app.xml"):
        data = package.read(name)
        if data:
            stream_xml(data, _Shallow(Properties(sink, _OFFICE)), sink.budget.check_time)
    if custom := package.read("docProps/custom.xml"):
        stream_xml(custom, _CustomProperties(sink), sink.budget.check_time)
