"""Values of spreadsheets as the reader of a sheet sees them."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import xlsb

from ultracrawl.content.converters.office import binary_sheets
from ultracrawl.content.converters.office.formats import BUILT_IN, Value, header_text, number_format
from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]

DAY = datetime(2007, 5, 17, 15, 4, 5)
ACCOUNTING = '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)'
CURRENCY = '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)'

SHOWN: list[tuple[Value, str, str]] = [
    (0.025, "0.00%", "2.50%"),
    (1599.99, "$#,##0.00", "$1,599.99"),
    (1599.99, CURRENCY, "$1,599.99"),
    (-1599.99, CURRENCY, "($1,599.99)"),
    (1599.99, "#,##0.00\\ [$€-407]", "1,599.99 €"),
    (1234567, "#,##0", "1,234,567"),
    (0.0, "#,##0", "0"),
    (-5.5, "0", "-6"),
    (2.675, "0.00", "2.68"),
    (-0.001, "0.00", "0.00"),
    (5.0, "0.##", "5"),
    (5.25, "0.##", "5.25"),
    (0.5, ".00", ".50"),
    (1234.5, ".00", "1234.50"),
    (7.0, "00000", "00007"),
    (12.0, ACCOUNTING, "12.00"),
    (-12.0, ACCOUNTING, "(12.00)"),
    (0.0, ACCOUNTING, "-"),
    (123456789.0, "000-00-0000", "123-45-6789"),
    (2255551234.0, "(000) 000-0000", "(225) 555-1234"),
    (1234567.0, '0.0,,"M"', "1.2M"),
    (12345.0, "0.00E+00", "1.23E+04"),
    (0.00012, "0.00E+00", "1.20E-04"),
    (9.999e9, "0.0E+0", "1.0E+10"),
    (12345.0, "##0.0E+0", "12.3E+3"),
    (1.5, "# ?/?", "1 1/2"),
    (0.125, "?/8", "1/8"),
    (3.0, "# ?/?", "3"),
    (150.0, '[>100]"big "0;0', "big 150"),
    (50.0, '[>100]"big "0;0', "50"),
    (0.0, '0;-0;"zero"', "zero"),
    (1e20, "0", "100000000000000000000"),
    (3.0, "[$-409]0.0", "3.0"),
    (DAY, "d-mmm-yy", "17-May-07"),
    (DAY.date(), "dddd, mmmm d, yyyy", "Thursday, May 17, 2007"),
    (DAY, "m/d/yy h:mm AM/PM", "5/17/07 3:04 PM"),
    (DAY, 'yyyy"年"m"月"d"日"', "2007年5月17日"),
    (DAY, "mm:ss.0", "04:05.0"),
    (time(3, 4, 5), "hh:mm:ss", "03:04:05"),
    (timedelta(hours=30, minutes=5), "[h]:mm:ss", "30:05:00"),
    # What a format does not show, or shows only for values of other kinds, stays as it is.
    (5.0, ";;;@", ""),
    (5.0, "d-mmm-yy", ""),
    (time(3), "d-mmm-yy", ""),
    (DAY, "0.00", ""),
    (float("inf"), "0.00", ""),
    (float("nan"), "0.00", ""),
]


def test_values_as_they_are_shown(subtests: pytest.Subtests) -> None:
    for value, code, text in SHOWN:
        with subtests.test(value=value, code=code):
            made = number_format(code)
            assert (made.shown(value) if made else "") == text


AS_THEY_ARE = ["General", "@", "", "[$-F800]dddd, mmmm dd", "General;-General", "0" * 256]


def test_formats_that_show_values_as_they_are_or_as_the_computer_says(subtests: pytest.Subtests) -> None:
    for code in AS_THEY_ARE:
        with subtests.test(code[:30]):
            assert number_format(code) is None


def test_built_in_formats_are_formats() -> None:
    assert all(number_format(code) for code in BUILT_IN.values())
    assert 14 not in BUILT_IN  # the short date of the reader's computer


@given(
    st.text(st.sampled_from('0#?.,%/E+-;"\\_*[]$<>=ymdhs@ AP/M€'), max_size=40),
    st.one_of(st.floats(), st.integers(), st.datetimes(), st.dates(), st.times(), st.timedeltas()),
)
def test_any_format_shows_any_value(code: str, value: Value) -> None:
    made = number_format(code)
    assert made is None or isinstance(made.shown(value), str)


SHOWN_HEADERS = [
    ('&LOurs&CPage &P of &N&R&"Arial,Bold"&12Big', "Ours Big"),
    ("R&&D &D &T", "R&D"),
    ("&K0000FFBlue &F", "Blue"),
    ("&C&8Draft - 2007", "Draft - 2007"),
    ("Report of &N, &P", "Report of ,"),
]


def test_headers_without_their_codes(subtests: pytest.Subtests) -> None:
    for code, text in SHOWN_HEADERS:
        with subtests.test(code):
            assert header_text(code) == text


def test_cells_of_a_workbook(converted: Convert) -> None:
    import openpyxl

    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Ä & B"
    cells = {
        "C3": (0.025, "0.00%"),
        "D3": (1599.99, CURRENCY),
        "C5": (date(2007, 5, 17), "d-mmm-yy"),
        "D5": ("text", "0.00"),
        "E5": (True, "0.00"),
        "D6": (3, "General"),
        "E6": (date(2007, 5, 17), "mm-dd-yy"),  # what openpyxl calls the short date
    }
    for place, (value, code) in cells.items():
        sheet[place], sheet[place].number_format = value, code
    workbook.create_sheet("Two").append([1.5])
    out = io.BytesIO()
    workbook.save(out)
    text = "Ä & B 2.50% $1,599.99 17-May-07 text True 3 2007-05-17 Two 1.5"
    assert converted(out.getvalue()).text == text


XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
HEADERS = ("&LOurs&CPage &P of &N", "", "", "R&&D &D", "", "")


def test_cells_of_a_binary_workbook(converted: Convert) -> None:
    cells: list[xlsb.Cell] = [
        (2, 2, 0.025, 1),
        (2, 3, 1599.99, 2),
        (4, 2, 39219, 3),
        (4, 3, "text", 1),
        (5, 3, 3, 0),
    ]
    body = xlsb.binary_workbook(
        {"Ä & B": cells, "Two": [(0, 0, 1.5, 0)]}, ("0.00%", CURRENCY, "d-mmm-yy"), HEADERS
    )
    assert converted(body, XLSB).text == "Ä & B 2.50% $1,599.99 17-May-07 text 3 Two 1.5 Ours R&D"


def test_days_counted_from_1904_are_left_as_they_are(converted: Convert) -> None:
    cells: list[xlsb.Cell] = [(0, 0, 39219, 1), (0, 1, 0.5, 2)]
    assert (
        converted(xlsb.binary_workbook({"One": cells}, ("d-mmm-yy", "0%"), flags=1), XLSB).text
        == "One 39219 50%"
    )


BROKEN_RECORDS: list[bytes] = [
    xlsb.record(479, b"\0\0" + xlsb.text("cut")[:-2]),
    xlsb.record(479, b"\0\0\xff"),
    b"\xdf\x03\xff\xff\xff\x7f",
    xlsb.record(2, b"\2"),
    b"\xff" * 9,
]


def test_broken_records_of_a_binary_workbook_cost_no_cell(
    converted: Convert, subtests: pytest.Subtests
) -> None:
    for broken in BROKEN_RECORDS:
        with subtests.test(broken=broken):
            body = xlsb.binary_workbook({"One": [(0, 0, 0.5, 1)]}, ("0.00%",), HEADERS, more=broken)
            assert converted(body, XLSB).text == "One 50.00% Ours R&D"


@given(st.binary(), st.sampled_from([b"", b"\xdf\x03", b"\x9c\x01\x10", b"\x2c\x04", b"\xe9\x04\0\x2f\x02"]))
def test_any_bytes_are_a_part_of_a_binary_workbook(data: bytes, head: bytes) -> None:
    part, known = head + data, number_format("0%")
    assert known is not None
    assert all(
        isinstance(text, str) for text in (*binary_sheets.shared_texts(part), *binary_sheets.headers_of(part))
    )
    assert binary_sheets.sheet_relations(part) is not None
    assert binary_sheets.read_styles(part) is not None
    assert all(cell.format is known for cell in binary_sheets.formatted_cells(part, {0: known}, lambda: None))
