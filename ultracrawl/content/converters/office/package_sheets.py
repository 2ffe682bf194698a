"""The sheets of an Excel workbook that is a package: what calamine does not tell of them.

These are the number formats of cells, headers and footers, and embedded documents.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from xml.sax.saxutils import unescape

from ultracrawl.content.converters.conversion import ConversionError, Sink
from ultracrawl.content.converters.office.formats import (
    BUILT_IN,
    CellFormat,
    NumberFormat,
    header_text,
    number_format,
)
from ultracrawl.content.converters.office.office import EMBEDDED
from ultracrawl.content.converters.office.package import Package
from ultracrawl.content.converters.office.relations import add_links, parts_of_kind, relations_of
from ultracrawl.content.xml import ElementHandler, XmlError, attribute, stream_xml

_SHEETS = ("xl/worksheets/sheet", "xl/chartsheets/sheet")
_BINARY_TEXT = 19
_MAX_FORMATS = 65_536
"""Formats that the cells of a workbook can have."""
_HEADER = re.compile(rb"<(?:\w{1,20}:)?(?:odd|even|first)(?:Header|Footer)\b[^<>]{0,200}>([^<>]{1,2000})<")
MAX_CELLS = 10_000_000
"""Cells of a rectangle that is read as it is, about 300 MB."""
MIN_FILLED = 0.02
"""Share of the cells that have a value in a larger one that is read as it is."""
_CELL = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_THREE_LETTERS = re.compile(rb'r="[A-Z]{3}\d')
_TWO_LETTERS = re.compile(rb'r="[A-Z]{2}\d')
_ROW = re.compile(rb'\br="(\d{1,7})"')
_PLACE = re.compile(rb'(<(?:\w+:)?(?:c|row)\b[^>]*?)\s(?:r|spans)="[^"]*"')
_DIMENSION = re.compile(rb"<(?:\w+:)?dimension\b[^>]*>")


class PackageSheets:
    """The sheets of a package. Links are added to the sink, and what cannot be read is noted in it."""

    def __init__(self, body: bytes, package: Package, sink: Sink) -> None:
        self._package = package
        self._sink = sink
        self.headers: dict[str, None] = {}
        """The texts of headers and footers, each once."""
        self.embedded: list[str] = []
        """The names of the parts that are embedded documents."""
        self._changed: dict[str, bytes] = {}
        names = [name for name in package.names if name.lower().startswith(_SHEETS)]
        for name in names:
            relations = relations_of(package, name, sink)
            add_links(relations, sink)
            self.embedded += parts_of_kind(relations, *EMBEDDED)
        package.check_sizes()  # calamine decompresses all of them
        for name in names:
            self._look_at(name)
        self.body = _with_members(body, self._changed)
        """The workbook, in which each cell follows the one before in the sheets with too many empty ones between."""
        self._formats: dict[int, NumberFormat] = {}
        self._parts: dict[str, str] = {}
        self._read_styles()

    def cells(self, sheet: str) -> Iterator[CellFormat]:
        """Yield the cells of a sheet that show their value otherwise than it is, in the order of the file."""
        name = self._parts.get(sheet, "")
        if not name or name in self._changed:
            return
        pattern = re.compile(
            rb'<(?:\w{1,20}:)?c\s(?=[^<>]{0,200}?\bs="(%b)")[^<>]{0,200}?\br="([A-Z]{1,3})([0-9]{1,7})"'
            % b"|".join(str(number).encode() for number in self._formats)
        )
        columns: dict[bytes, int] = {}
        for match in pattern.finditer(self._package.read(name, counted=False)):
            style, letters, row = match.groups()
            column = columns.get(letters)
            if column is None:
                column = columns[letters] = _number_of(letters) - 1
            yield CellFormat(int(row) - 1, column, self._formats[int(style)])

    def shared_texts(self) -> Iterator[str]:
        """Yield the texts of cells, in the order of their first use: what is left of sheets that cannot be read."""
        yield from _binary_texts(self._package.read("xl/sharedStrings.bin", counted=False))
        texts: list[str] = []

        def on_element(name: str, _: Mapping[str, str], text: str, __: object) -> None:
            if name == "t":
                texts.append(text)

        with suppress(XmlError):
            data = self._package.read("xl/sharedStrings.xml", counted=False)
            stream_xml(data or b"<sst/>", ElementHandler(on_element), self._sink.budget.check_time)
        yield from texts

    def _look_at(self, name: str) -> None:
        sheet = self._package.read(name, counted=False)
        if _is_sparse(sheet):
            self._changed[name] = _PLACE.sub(rb"\1", _PLACE.sub(rb"\1", _DIMENSION.sub(b"", sheet)))
        end = sheet.rfind(b"headerFooter>")
        start = sheet.rfind(b"headerFooter", 0, end) if end > 0 else -1
        if start >= 0:
            for code in _HEADER.findall(sheet, start, end):
                if text := header_text(unescape(code.decode("utf-8", "replace"), {"&quot;": '"'})):
                    self.headers[text] = None

    def _read_styles(self) -> None:
        """Read which style shows values in which format, and where the sheets are; broken styles are noted."""
        try:
            if "xl/styles.xml" in self._package:  # a binary workbook has other parts
                self._formats = _formats(self._package, self._sink)
            if self._formats:
                self._parts = _sheet_parts(self._package, self._sink)
        except (ConversionError, XmlError) as error:
            self._sink.note(f"number formats could not be read: {error}")


def _binary_texts(data: bytes) -> Iterator[str]:
    """Yield the texts in the table of a binary workbook ([MS-XLSB] 2.1.7.50)."""
    at = 0
    while at < len(data):
        kind, at = _variable(data, at)
        size, at = _variable(data, at)
        if kind == _BINARY_TEXT:
            count = int.from_bytes(data[at + 1 : at + 5], "little")
            yield data[at + 5 : at + min(5 + 2 * count, size)].decode("utf-16-le", "replace")
        at += size


def _variable(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of up to four bytes, whose highest bits tell whether another follows, and where it ends."""
    number = 0
    for place, byte in enumerate(data[at : at + 4]):
        number |= (byte & 0x7F) << 7 * place
        if not byte & 0x80:
            return number, at + place + 1
    return number, at + 4


def _formats(package: Package, sink: Sink) -> dict[int, NumberFormat]:
    """Return the formats by the number of their style."""
    codes = dict(BUILT_IN)
    styles: list[int] = []

    def on_element(
        name: str, attributes: Mapping[str, str], _: str, around: Sequence[tuple[str, Mapping[str, str]]]
    ) -> None:
        if name == "numfmt" and len(codes) < _MAX_FORMATS:
            codes[_integer(attribute(attributes, "numfmtid"))] = attribute(attributes, "formatcode")
        elif name == "xf" and around and around[-1][0] == "cellxfs" and len(styles) < _MAX_FORMATS:
            styles.append(_integer(attribute(attributes, "numfmtid")))

    stream_xml(package.read("xl/styles.xml"), ElementHandler(on_element), sink.budget.check_time)
    made = ((number, number_format(codes.get(identity, ""))) for number, identity in enumerate(styles))
    return {number: known for number, known in made if known is not None}


def _sheet_parts(package: Package, sink: Sink) -> dict[str, str]:
    """Return the parts of the sheets by their names."""
    relations = relations_of(package, "xl/workbook.xml", sink)
    parts: dict[str, str] = {}

    def on_element(name: str, attributes: Mapping[str, str], *_: object) -> None:
        relation = relations.get(attribute(attributes, "id")) if name == "sheet" else None
        if relation is not None and not relation.is_external:
            parts[attribute(attributes, "name")] = relation.part

    stream_xml(package.read("xl/workbook.xml"), ElementHandler(on_element), sink.budget.check_time)
    return parts


def _integer(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _with_members(body: bytes, changed: Mapping[str, bytes]) -> bytes:
    """Return a zip file with other contents of some members."""
    if not changed:
        return body
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as before, zipfile.ZipFile(made, "w") as after:
        for member in before.infolist():
            after.writestr(member.filename, changed.get(member.filename) or before.read(member))
    return made.getvalue()


def _is_sparse(sheet: bytes) -> bool:
    """Return whether the rectangle of all cells of a sheet is large and nearly empty."""
    last_row = _ROW.search(sheet, sheet.rfind(b"row "))
    if last_row is None or int(last_row[1]) * _widest(sheet) <= MAX_CELLS:
        return False
    rows, columns, cells = set[int](), set[bytes](), 0
    for cell in _CELL.finditer(sheet):
        columns.add(cell[1])
        rows.add(int(cell[2]))
        cells += 1
    if not cells:
        return False
    numbers = [_number_of(column) for column in columns]
    area = (max(rows) - min(rows) + 1) * (max(numbers) - min(numbers) + 1)
    return area > MAX_CELLS and cells < MIN_FILLED * area


def _widest(sheet: bytes) -> int:
    """Return a number of columns that no cell lies beyond, at little cost."""
    if _THREE_LETTERS.search(sheet):
        return 16_384
    return 702 if _TWO_LETTERS.search(sheet) else 26


def _number_of(column: bytes) -> int:
    """Return the number of a column: A is 1, AA is 27."""
    number = 0
    for letter in column:
        number = number * 26 + letter - 64
    return number
