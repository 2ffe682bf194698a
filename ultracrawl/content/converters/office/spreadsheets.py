"""Converter for Excel workbooks, old and new, with calamine."""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.far_cells import without_far_cells
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
    for number, row in enumerate(sheet.iter_rows()):
        if number % _ROWS_PER_CHECK == 0:
            sink.budget.check_time(f"{number} of {sheet.height} rows of {sheet.name!r}")
        sink.add(" ".join(text for cell in row if (text := _text(cell))))


def _text(cell: Cell) -> str:
    """Return a cell as users would search it: whole numbers without a decimal point."""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    return str(cell).replace("\0", "")  # calamine returns strings of Excel 95 with a zero after each letter
