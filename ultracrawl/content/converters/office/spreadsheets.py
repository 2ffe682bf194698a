"""Converter for Excel workbooks, old and new, with calamine."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.office import read_drawn_parts, read_links
from ultracrawl.content.converters.office.ole import read_ole
from ultracrawl.content.converters.office.package import Package, read_office_properties

_OLE = b"\xd0\xcf\x11\xe0"
_ROWS_PER_CHECK = 1000
"""Rows between checks of the time limit."""

Cell = int | float | str | bool | time | date | datetime | timedelta


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, then each sheet with its name, a row as one paragraph."""
    package, body = None, source.body
    if source.body.startswith(_OLE):
        read_ole(source.body, sink)
    else:
        package = _read_package(source, sink)
        body = without_far_cells(body, package)
    _read_sheets(body, sink)
    if package is not None:
        read_drawn_parts(package, sink)


def _read_sheets(body: bytes, sink: Sink) -> None:
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(body))
    except PasswordError:
        raise ConversionError("the document is encrypted") from None
    except (CalamineError, OSError, ValueError) as error:
        raise ConversionError(f"this is not a workbook that can be read: {error}") from None
    sink.meta("pages", str(len(workbook.sheet_names)))
    for name in workbook.sheet_names:
        sink.budget.take_member()
        sink.add(name)
        try:
            _read_sheet(workbook.get_sheet_by_name(name), sink)
        except (CalamineError, ValueError) as error:
            sink.note(f"sheet {name!r} could not be read: {error}"[:200])


def _read_package(source: Source, sink: Sink) -> Package:
    """Add properties and links, and check the size of the sheets before calamine decompresses all of them."""
    package = Package(source.body, sink.budget)
    read_office_properties(package, sink)
    for name in package.names:
        if name.lower().startswith("xl/worksheets/sheet"):
            read_links(package, name, sink)
    package.check_sizes()
    return package


def _read_sheet(sheet: CalamineSheet, sink: Sink) -> None:
    for number, row in enumerate(_rows(sheet, sink)):
        if number % _ROWS_PER_CHECK == 0:
            sink.budget.check_time(f"{number} of {sheet.height} rows of {sheet.name!r}")
        sink.add(" ".join(text for cell in row if (text := _text(cell))))


def _rows(sheet: CalamineSheet, sink: Sink) -> Iterator[list[Cell]]:
    """Yield the rows of a sheet; one with a time that no Python type holds is left out."""
    rows = sheet.iter_rows()
    for number in range(1, sheet.total_height + 2):
        try:
            yield next(rows)
        except StopIteration:
            return
        except (OverflowError, ValueError) as error:
            sink.note(f"row {number} of sheet {sheet.name!r} could not be read: {error}"[:200])


def _text(cell: Cell) -> str:
    """Return a cell as users would search it: whole numbers without a decimal point."""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    return str(cell).replace("\0", "")  # calamine returns strings of Excel 95 with a zero after each letter


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


def without_far_cells(body: bytes, package: Package) -> bytes:
    """Return a workbook in which each cell follows the one before, in the sheets with too many empty ones between."""
    changed: dict[str, bytes] = {}
    for name in package.names:
        if name.lower().startswith("xl/worksheets/sheet"):
            sheet = package.read(name, counted=False)
            if _is_sparse(sheet):
                changed[name] = _PLACE.sub(rb"\1", _PLACE.sub(rb"\1", _DIMENSION.sub(b"", sheet)))
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
