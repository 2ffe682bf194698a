"""Each test that docs/asvs.md names exists, each attack has one, and no line both holds and does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "asvs.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)))
ROW = re.compile(r"^\| (\d[\d., to]*) \|.*\|$", re.MULTILINE)


def test_a_test_that_is_named_exists(subtests: pytest.Subtests) -> None:
    for file, name in NAMED:
        with subtests.test(f"{file}::{name}"):
            text = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE)


def test_each_line_that_holds_has_a_test() -> None:
    holding, lacking = PAGE.split("## Lines that do not hold")
    rows = [found[0] for found in ROW.finditer(holding)]
    assert len(rows) > 40
    assert [row for row in rows if "::test_" not in row] == []
    numbers = [set(re.findall(r"\d+\.\d+\.\d+", " ".join(ROW.findall(part)))) for part in (holding, lacking)]
    assert numbers[0] & numbers[1] == set()


def test_each_attack_has_a_test() -> None:
    rows = [line for line in PAGE.split("## Attack list")[1].splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 30
    assert [row for row in rows if row.count("::test_") != 1] == []
