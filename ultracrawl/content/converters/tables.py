"""Converter for comma- and tab-separated values."""

from __future__ import annotations

import csv
import io

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.converters.conversion import Sink, Source

_SAMPLE_CHARS = 8192
_ROWS_PER_CHECK = 5000
"""Rows between checks of the time limit."""


def convert(source: Source, sink: Sink) -> None:
    """Convert each row to a paragraph; the cells of the first row are the attribute `columns`."""
    text, _ = decode(source.body, source.content_type, source.default_charset)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text[:_SAMPLE_CHARS]))
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    number = 0
    for number, row in enumerate(rows, 1):
        if number == 1:
            sink.meta("columns", *row)
        if number % _ROWS_PER_CHECK == 0:
            sink.budget.check_time(f"{number} rows")
        sink.add(" ".join(row))
    sink.meta("rows", str(number))


def _delimiter(sample: str) -> str:
    line = sample.partition("\n")[0]
    return max(",;\t|", key=line.count)
