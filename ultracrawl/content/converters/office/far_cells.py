"""Brings cells of Excel sheets close together, if a few of them lie so far apart that no memory holds what is between.

calamine makes a rectangle of all cells of a sheet: two cells in opposite corners are 17 billion.
"""

from __future__ import annotations

import io
import re
import zipfile

from ultracrawl.content.converters.office.package import Package

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
