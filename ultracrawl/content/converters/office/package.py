"""Documents that are zip files: their members, properties and paragraphs, within the budget."""

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
    """The members of a zip file by name. Raises `ConversionError` if the file is no zip file."""

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
        """Names as written in the file; never used as paths."""
        self._known = frozenset(self.names)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def read(self, name: str, *, counted: bool = True) -> bytes:
        """Return a member, empty for an unknown name; `counted`: its size counts towards the budget.

        Raises `ConversionError` for a broken or encrypted member, `LimitReachedError` if it is too large.
        """
        if name not in self._known:
            return b""
        if self._zip.getinfo(name).flag_bits & 1:
            raise ConversionError("the document is encrypted")
        chunks: list[bytes] = []
        try:
            with self._zip.open(name) as member:
                while chunk := member.read(_CHUNK):
                    if counted:
                        self._budget.take_unpacked(len(chunk))
                    chunks.append(chunk)
        except _BROKEN as error:
            raise ConversionError(f"broken zip file: {error}") from None
        return b"".join(chunks)

    def check_sizes(self) -> None:
        """Account for all members by their declared sizes, before a library reads the whole file."""
        self._budget.take_unpacked(sum(info.file_size for info in self._zip.infolist()))


class Paragraphs:
    """Collects runs of text until a paragraph ends; the runs of a paragraph are joined without spaces."""

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
_MAX_NAME_CHARS = 100


def add_property(
    name: str, value: str, sink: Sink, names: Mapping[str, str], keywords: str = "keywords"
) -> None:
    """Add the text of an element as a property, under its name in the table `names`."""
    if name == "title":
        sink.set_title(value)
    elif name == "language":
        sink.set_language(value)
    elif name == keywords:
        sink.keywords(value)
    elif name in names and value.strip() != "0":  # programs that do not count pages and words write 0
        sink.meta(names[name], value)


def add_custom_property(name: str, value: str, sink: Sink) -> None:
    """Add a custom property: `Cost Centre` becomes the document attribute `custom.cost centre`."""
    folded = " ".join(name.lower().split())[:_MAX_NAME_CHARS]
    if folded:
        sink.meta(f"custom.{folded}", value)


def read_office_properties(package: Package, sink: Sink) -> None:
    """Add the properties in `docProps` of Office Open XML."""

    def on_element(name: str, _: Mapping[str, str], text: str, around: Sequence[object]) -> None:
        if len(around) == 1:  # deeper elements belong to parts
            add_property(name, text, sink, _OFFICE)

    def on_custom_element(
        name: str, attributes: Mapping[str, str], text: str, around: Sequence[tuple[str, Mapping[str, str]]]
    ) -> None:
        kind, given = around[1] if len(around) > 1 else (name, attributes)
        if kind == "property":  # the value is a child element
            add_custom_property(attribute(given, "name"), text, sink)

    for part, callback in (("core", on_element), ("app", on_element), ("custom", on_custom_element)):
        if data := package.read(f"docProps/{part}.xml"):
            stream_xml(data, ElementHandler(callback), sink.budget.check_time)
