"""Tables as CSV files, in which spreadsheets take no text for a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO

from starlette.responses import Response, StreamingResponse

_SIGNS = "=+-@＝＋－＠"
_FORMULA = (*_SIGNS, "\t", "\r", "\n")
"""Characters with which spreadsheets begin a formula, or drop before one (OWASP, CSV injection)."""
_BEFORE_A_SIGN = re.compile(rf'(?<![\s";])[\s";]++(?=[{re.escape(_SIGNS)}])')
"""A run of signs that may divide cells, before a sign that begins a formula; each run is looked at once."""
_DIVIDES = frozenset(";\t\r\n")
"""Where programs divide cells by semicolons or tabs, as those of many countries do, a formula may begin behind them."""
_BATCH = 500
"""Rows that are sent together."""


def csv_text(value: object) -> str:
    """Return the text of a cell; an apostrophe stands before what a spreadsheet would compute."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value)
    text = _BEFORE_A_SIGN.sub(lambda run: run[0] if _DIVIDES.isdisjoint(run[0]) else f"{run[0]}'", value)
    return f"'{text}" if value.lstrip().startswith(_FORMULA) else text


def csv_lines(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Yield a table in parts (RFC 4180); the names of its columns are those of the first row."""
    written, names = StringIO(), list[str]()
    writer = csv.writer(written)
    for number, row in enumerate(rows):
        if not names:
            names = list(row)
            writer.writerow(names)
        writer.writerow([csv_text(row.get(name)) for name in names])
        if number % _BATCH == _BATCH - 1:
            yield written.getvalue()
            written.seek(0)
            written.truncate()
    yield written.getvalue()


def csv_answer(name: str, rows: Iterable[Mapping[str, object]]) -> Response:
    """Return a table as a file to be saved; `name` has letters, digits and hyphens only."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return StreamingResponse(csv_lines(rows), headers=headers, media_type="text/csv; charset=utf-8")
