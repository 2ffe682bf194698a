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
from ultracrawl.content.converters.office import binary_sheets
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

_BINARY = ".bin"
_SHEETS = ("xl/worksheets/sheet", "xl/chartsheets/sheet")
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
        data = self._package.read(name, counted=False)
        if name.endswith(_BINARY):
            yield from binary_sheets.formatted_cells(data, self._formats, self._sink.budget.check_time)
            return
        pattern = re.compile(
            rb'<(?:\w{1,20}:)?c\s(?=[^<>]{0,200}?\bs="(%b)")[^<>]{0,200}?\br="([A-Z]{1,3})([0-9]{1,7})"'
            % b"|".join(str(number).encode() for number in self._formats)
        )
        columns: dict[bytes, int] = {}
        for match in pattern.finditer(data):
            style, letters, row = match.groups()
            column = columns.get(letters)
            if column is None:
                column = columns[letters] = _number_of(letters) - 1
            yield CellFormat(int(row) - 1, column, self._formats[int(style)])

    def shared_texts(self) -> Iterator[str]:
        """Yield the texts of cells, in the order of their first use: what is left of sheets that cannot be read."""
        yield from binary_sheets.shared_texts(self._package.read("xl/sharedStrings.bin", counted=False))
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
        if name.endswith(_BINARY):
            codes = binary_sheets.headers_of(sheet)
        else:
            codes = _headers_of(sheet)
            if _is_sparse(sheet):
                self._changed[name] = _PLACE.sub(rb"\1", _PLACE.sub(rb"\1", _DIMENSION.sub(b"", sheet)))
        for code in codes:
            if text := header_text(code):
                self.headers[text] = None

    def _read_styles(self) -> None:
        """Read which style shows values in which format, and where the sheets are; broken styles are noted."""
        try:
            self._formats = _formats(self._package, self._sink)
            if self._formats:
                self._parts = _sheet_parts(self._package, self._sink)
        except (ConversionError, XmlError) as error:
            self._sink.note(f"number formats could not be read: {error}")


def _headers_of(sheet: bytes) -> list[str]:
    """Return the headers and footers of a sheet with their codes."""
    end = sheet.rfind(b"headerFooter>")
    start = sheet.rfind(b"headerFooter", 0, end) if end > 0 else -1
    found = _HEADER.findall(sheet, start, end) if start >= 0 else []
    return [unescape(code.decode("utf-8", "replace"), {"&quot;": '"'}) for code in found]


def _formats(package: Package, sink: Sink) -> dict[int, NumberFormat]:
    """Return the formats by the number of their style."""
    if data := package.read("xl/styles.bin"):
        codes, styles = binary_sheets.read_styles(data)
    else:
        codes, styles = _styles(package, sink)
    codes = {**BUILT_IN, **codes}
    made = ((number, number_format(codes.get(identity, ""))) for number, identity in enumerate(styles))
    in_1904 = binary_sheets.counts_from_1904(package.read("xl/workbook.bin", counted=False))
    return {number: one for number, one in made if one is not None and not (in_1904 and one.is_of_days)}


def _styles(package: Package, sink: Sink) -> tuple[dict[int, str], list[int]]:
    """Return the codes of formats by their numbers, and the number of the format of each style of cells."""
    codes: dict[int, str] = {}
    styles: list[int] = []

    def on_element(
        name: str, attributes: Mapping[str, str], _: str, around: Sequence[tuple[str, Mapping[str, str]]]
    ) -> None:
        if name == "numfmt" and len(codes) < _MAX_FORMATS:
            codes[_integer(attribute(attributes, "numfmtid"))] = attribute(attributes, "formatcode")
        elif name == "xf" and around and around[-1][0] == "cellxfs" and len(styles) < _MAX_FORMATS:
            styles.append(_integer(attribute(attributes, "numfmtid")))

    if data := package.read("xl/styles.xml"):
        stream_xml(data, ElementHandler(on_element), sink.budget.check_time)
    return codes, styles


def _sheet_parts(package: Package, sink: Sink) -> dict[str, str]:
    """Return the parts of the sheets by their names."""
    if data := package.read("xl/workbook.bin"):
        ids, workbook = binary_sheets.sheet_relations(data), "xl/workbook.bin"
    else:
        ids, workbook = _sheet_relations(package, sink), "xl/workbook.xml"
    relations = relations_of(package, workbook, sink)
    found = ((name, relations.get(identity)) for name, identity in ids.items())
    return {name: relation.part for name, relation in found if relation and not relation.is_external}


def _sheet_relations(package: Package, sink: Sink) -> dict[str, str]:
    """Return the ids of the relations of a workbook to its sheets, by the names of these."""
    found: dict[str, str] = {}

    def on_element(name: str, attributes: Mapping[str, str], *_: object) -> None:
        if name == "sheet":
            found[attribute(attributes, "name")] = attribute(attributes, "id")

    stream_xml(package.read("xl/workbook.xml"), ElementHandler(on_element), sink.budget.check_time)
    return found


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
