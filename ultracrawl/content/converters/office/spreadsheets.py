"""Converter for Excel workbooks, old and new, with calamine."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError

from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.biff import OldSheets
from ultracrawl.content.converters.office.embedded import add_files, add_parts
from ultracrawl.content.converters.office.formats import CellFormat, NumberFormat
from ultracrawl.content.converters.office.office import read_drawn_parts
from ultracrawl.content.converters.office.ole import read_ole
from ultracrawl.content.converters.office.package import Package, read_office_properties
from ultracrawl.content.converters.office.package_sheets import PackageSheets
from ultracrawl.errors import is_panic

_OLE = b"\xd0\xcf\x11\xe0"
_ROWS_PER_CHECK = 1000
"""Rows between checks of the time limit."""

_DAY_0 = datetime(1899, 12, 30)
_DAYS = range(61, 2_958_466)
"""The days from March of 1900 to 9999, which calamine leaves as numbers in `.xlsb`."""

Cell = int | float | str | bool | time | date | datetime | timedelta


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, then each sheet with its name, a row as one paragraph; then what is drawn and embedded."""
    if source.body.startswith(_OLE):
        read_ole(source.body, sink)
        old = OldSheets(source.body, sink.budget.check_time)
        _read_sheets(old.body, sink, old.cells)
        old.read_others()
        for text in old.texts:
            sink.add(text)
        add_files(source.body, sink)
        return
    package = Package(source.body, sink.budget)
    read_office_properties(package, sink)
    sheets = PackageSheets(source.body, package, sink)
    if not _read_sheets(sheets.body, sink, sheets.cells):
        for text in sheets.shared_texts():
            sink.add(text)
    for text in sheets.headers:
        sink.add(text)
    read_drawn_parts(package, sink)
    add_parts(package, sheets.embedded, sink)


def _read_sheets(body: bytes, sink: Sink, cells_of: Callable[[str], Iterator[CellFormat]]) -> bool:
    """Add the sheets; return whether all could be read. One that cannot be is noted, and costs itself."""
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(body))
    except PasswordError:
        raise ConversionError("the document is encrypted") from None
    except BaseException as error:
        _raise_unless_of_calamine(error)
        raise ConversionError(f"this is not a workbook that can be read: {error}") from None
    sink.meta("pages", str(len(workbook.sheet_names)))
    are_read = True
    for name in workbook.sheet_names:
        sink.budget.take_member()
        sink.add(name)
        try:
            _read_sheet(workbook.get_sheet_by_name(name), sink, cells_of(name))
        except BaseException as error:
            _raise_unless_of_calamine(error)
            sink.note(f"sheet {name!r} could not be read: {error}"[:200])
            are_read = False
    return are_read


def _raise_unless_of_calamine(error: BaseException) -> None:
    """Raise an error again, unless it tells of the workbook: calamine panics for some that are odd."""
    if not (isinstance(error, (CalamineError, OSError, ValueError)) or is_panic(error)):
        raise error


def _read_sheet(sheet: CalamineSheet, sink: Sink, cells: Iterator[CellFormat]) -> None:
    """Add the rows; `cells` are those that do not show their value as it is."""
    left = sheet.start[1] if sheet.start else 0
    following = next(cells, None)
    for number, row in _rows(sheet, sink):
        if number % _ROWS_PER_CHECK == 0:
            sink.budget.check_time(f"{number} of {sheet.height} rows of {sheet.name!r}")
        while following is not None and following.row <= number:
            column = following.column - left
            if following.row == number and 0 <= column < len(row):
                row[column] = _shown(row[column], following.format)
            following = next(cells, None)
        sink.add(" ".join(text for cell in row if (text := _text(cell))))
    for _ in cells:  # the rest of the sheet is read, too
        continue


def _shown(cell: Cell, number_format: NumberFormat) -> Cell:
    """Return what a cell shows; text and truth values are as they are."""
    if isinstance(cell, (str, bool)):
        return cell
    if isinstance(cell, int) and number_format.is_of_days and cell in _DAYS:
        cell = _DAY_0 + timedelta(days=cell)
    return number_format.shown(cell) or cell


def _rows(sheet: CalamineSheet, sink: Sink) -> Iterator[tuple[int, list[Cell]]]:
    """Yield the rows of a sheet with their numbers, from 0; one with a time that no Python type holds is left out."""
    rows = sheet.iter_rows()
    for number in range(sheet.total_height + 1):
        try:
            yield number, next(rows)
        except StopIteration:
            return
        except (OverflowError, ValueError) as error:
            sink.note(f"row {number + 1} of sheet {sheet.name!r} could not be read: {error}"[:200])


def _text(cell: Cell) -> str:
    """Return a cell as users would search it: whole numbers without a decimal point."""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    return str(cell).replace("\0", "")  # calamine returns strings of Excel 95 with a zero after each letter
