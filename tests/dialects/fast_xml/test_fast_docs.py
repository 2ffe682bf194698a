"""docs/fast.md is in step with the list of options and with the notices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from dialects.fast_xml import test_fast_compiled as compiled
from dialects.fast_xml import test_fast_crawled as crawled
from dialects.fast_xml import test_fast_played as played
from fast_tables import page

from ultracrawl.dialects.fast_xml.notices import Code
from ultracrawl.dialects.fast_xml.options import OPTIONS, OptionSpec

PAGE = (Path(__file__).parents[3] / "docs" / "fast.md").read_text()


def test_the_tables_are_made_from_the_list() -> None:
    assert page(PAGE) == PAGE, "run python tools/fast_tables.py docs/fast.md"
    assert "| CORE |" in PAGE


def test_every_code_is_explained() -> None:
    assert [code.value for code in Code if f"| `{code.value}` |" not in PAGE] == []


TESTS = Path(__file__).parents[2]
TABLES: dict[str, dict[int, Any]] = {
    "test_fast_crawled": crawled.CASES,
    "test_fast_played": played.CASES,
    "test_fast_compiled": compiled.CASES,
}
"""Tables of tests that compare with and without: their cases say both answers."""


@pytest.mark.parametrize(
    "spec", [one for one in OPTIONS.all if one.honoured], ids=lambda spec: f"fast_{spec.number}"
)
def test_every_honoured_option_has_a_test_with_and_without_it(spec: OptionSpec) -> None:
    assert spec.test, "say in options.yaml which test compares collections with it and without it"
    if spec.test in TABLES:
        case = TABLES[spec.test][spec.number]
        assert case.without != case.with_it
        return
    (file,) = TESTS.rglob(f"{spec.test}.py")
    assert re.search(rf"fast_(\d+_)*{spec.number}(?!\d)", file.read_text()), "its id names the option"


def test_no_test_is_claimed_for_what_has_no_effect() -> None:
    assert [spec.number for spec in OPTIONS.all if spec.test and not spec.honoured] == []
    numbers = {spec.number for spec in OPTIONS.all if spec.honoured}
    assert set().union(*TABLES.values()) <= numbers


def test_the_table_counts_what_the_list_has() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
    assert len(rows) == 224
    assert sum("::fast_" in row for row in rows) == sum(spec.honoured for spec in OPTIONS.all)
    assert not [spec for spec in OPTIONS.all if spec.group == "CORE" and spec.no_effect]
