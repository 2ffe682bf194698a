"""Zip files that are documents: their members, their properties and their paragraphs, within the budget."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence

from ultracrawl.content.converters.conversion import Budget, ConversionError, Sink
from ultracrawl.content.xml import ElementHandler, attribute, stream_xml

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


def take_property(
    name: str, value: str, sink: Sink, names: Mapping[str, str], keywords: str = "keywords"
) -> None:
    """Take the text of an element as a property, under the name that a table gives it."""
    if name == "title":
        sink.set_title(value)
    elif name == "language":
        sink.set_language(value)
    elif name == keywords:
        sink.keywords(value)
    elif name in names and value.strip() != "0":  # programs that do not count write 0
        sink.meta(names[name], value)


def take_custom(name: str, value: str, sink: Sink) -> None:
    """Take a property that people made: `Cost Centre` is the document attribute `custom.cost centre`."""
    folded = " ".join(name.lower().split())[:_LONGEST_NAME]
    if folded:
        sink.meta(f"custom.{folded}", value)


def read_office_properties(package: Package, sink: Sink) -> None:
    """Read `docProps` of Office Open XML."""

    def take_element(name: str, _: Mapping[str, str], text: str, around: Sequence[object]) -> None:
        if len(around) == 1:  # deeper titles are those of parts
            take_property(name, text, sink, _OFFICE)

    def take_made(
        name: str, attributes: Mapping[str, str], text: str, around: Sequence[tuple[str, Mapping[str, str]]]
    ) -> None:
        kind, given = around[1] if len(around) > 1 else (name, attributes)
        if kind == "property":  # its value is an element inside
            take_custom(attribute(given, "name"), text, sink)

    for part, taken in (("core", take_element), ("app", take_element), ("custom", take_made)):
        if data := package.read(f"docProps/{part}.xml"):
            stream_xml(data, ElementHandler(taken), sink.budget.check_time)
