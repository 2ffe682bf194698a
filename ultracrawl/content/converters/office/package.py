"""Documents that are zip files: their members, properties and paragraphs, within the budget."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence

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
    """Collects runs of text until a paragraph ends; the runs of a paragraph are joined without spaces.

    Paragraphs that stand in another one (of text boxes, notes, comments) follow it.
    """

    def __init__(self, add: Callable[[str], None]) -> None:
        """Initialise; `add` takes each paragraph, as `Sink.add` does."""
        self._add_paragraph = add
        self._open: list[list[str]] = [[]]
        """The runs of the paragraphs that are open; first those of none."""
        self._inner: list[str] = []
        self._before: list[str] = []
        """Runs that the next paragraph begins with."""
        self._joined = 0
        """How many paragraphs are open where one is that the next one continues."""

    @property
    def is_open(self) -> bool:
        """Whether a paragraph has begun."""
        return len(self._open) > 1

    def start_paragraph(self) -> None:
        """Start a paragraph; in another one if one is open."""
        if len(self._open) == 1 and self._open[0]:
            self.end_paragraph()
        self._open.append(self._before)
        self._before = []

    def add(self, text: str) -> None:
        """Add a run."""
        self._open[-1].append(text)

    def join_next(self) -> None:
        """Have the next paragraph continue the open one: its end was deleted."""
        self._joined = len(self._open)

    def end_paragraph(self) -> None:
        """End the paragraph; also text that stands in none."""
        runs = self._open.pop()
        if self._joined > len(self._open):
            self._before, self._joined = runs, 0
        elif len(self._open) > 1:
            self._inner.append("".join(runs))
        else:
            for paragraph in ("".join(runs), *self._inner):
                if paragraph:
                    self._add_paragraph(paragraph)
            self._inner.clear()
        if not self._open:
            self._open.append([])

    def end_all(self) -> None:
        """End all paragraphs."""
        self._joined = 0
        if self._before:
            self.start_paragraph()
        for _ in range(len(self._open)):
            self.end_paragraph()


class OpenElements:
    """The names of the elements that are open, and whether one of them is left out with all that it contains."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._omitted = 0
        """The depth of the outermost element that is left out; 0: none is."""

    def start(self, name: str) -> None:
        """Note the start of an element."""
        self._names.append(name)

    def end_innermost(self) -> None:
        """Note the end of the innermost element."""
        if len(self._names) == self._omitted:
            self._omitted = 0
        self._names.pop()

    def omit(self, above: int = 0) -> None:
        """Leave out the innermost element, or one above it, until it ends."""
        if not self._omitted:
            self._omitted = len(self._names) - above

    @property
    def is_omitting(self) -> bool:
        """Whether what comes now is left out."""
        return self._omitted > 0

    def is_directly_in(self, *names: str) -> bool:
        """Return whether the innermost element stands directly in elements of these names, the outer one first."""
        return tuple(self._names[-len(names) - 1 : -1]) == names


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
