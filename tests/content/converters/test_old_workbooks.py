"""Workbooks of Excel before 2007: numbers as shown, and what stands beside the cells."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import biff, files, samples

from ultracrawl.content.mime import sniff_type
from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]

FORMATS = ("0.00%", '"$"#,##0.00', "d-mmm-yy")


def test_numbers_as_they_are_shown(converted: Convert) -> None:
    cells = [(0, 0, "label", 0), (0, 1, 0.025, 1), (1, 1, 1599.99, 2), (3, 0, 5, 0), (3, 2, 39219, 3)]
    more = biff.many_numbers(5, 1, [(7, 1), (8, 0), (9, 2)])
    found = converted(biff.old_workbook({"Größe": cells, "Two": [(0, 0, 1.5, 0)]}, FORMATS, more=more))
    assert found.text == "Größe label 2.50% $1,599.99 5 17-May-07 700.00% 8 $9.00 Two 1.5 700.00% 8 $9.00"


@pytest.mark.parametrize("formats", [(), ("0.00",)])
def test_what_stands_beside_the_cells(converted: Convert, formats: tuple[str, ...]) -> None:
    more = biff.header("&LHead of R&&D") + biff.footer("&CPage &P of &N") + biff.text_box("In a ", "bóx")
    more += biff.chart("Sales", "Nörth") + biff.text_box("behind")
    cells = [(row, 0, 3, len(formats)) for row in range(3)]
    body = biff.old_workbook(
        {"One": cells, "Two": cells}, formats, more=more, beside={"MBD01": {"CONTENTS": files.pdf(["inner"])}}
    )
    number = "3.00" if formats else "3"
    rows = " ".join([number] * 3)
    assert converted(body).text == f"One {rows} Two {rows} Head of R&D In a bóx Sales Nörth behind inner"


def test_a_stream_in_capitals(converted: Convert) -> None:
    body = biff.old_workbook({"One": [(0, 0, "needle", 0)]}, name="WORKBOOK")
    assert sniff_type(body) == "application/vnd.ms-excel"
    assert converted(body).text == "One needle"


@pytest.mark.parametrize(
    "broken",
    [
        biff.record(0x14, b"\xff\xff\1ab"),
        biff.record(0x1B6, bytes(3)),
        biff.record(0x100D),
        biff.record(0x0809, bytes(16)) * 50,
        biff.record(0x1B6, b"\xff" * 20) + biff.record(0x3C),
    ],
)
def test_broken_records_cost_no_cell(converted: Convert, broken: bytes) -> None:
    found = converted(biff.old_workbook({"One": [(0, 0, 0.5, 1)]}, FORMATS, more=broken))
    assert found.text.startswith("One 50.00%")


@pytest.mark.servers
def test_a_workbook_of_excel(converted: Convert) -> None:
    text = converted(samples.workbook("FmtTest.xls")).text
    assert "123,456.12 -123,456.12 0.00" in text
    assert "12345612.00%" in text
    assert "1.23E+05" in text
    assert "$123,456.12 ($123,456.12) $0.00" in text
    assert "23-Mar-64" in text
    assert "Left Header" in text
