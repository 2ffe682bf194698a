"""docs/fast.md is in step with the list of options and with the notices."""

from __future__ import annotations

from pathlib import Path

from ultracrawl.dialects.fast_xml.notices import Code
from ultracrawl.dialects.fast_xml.table import page

PAGE = (Path(__file__).parents[2] / "docs" / "fast.md").read_text()


def test_the_tables_are_made_from_the_list() -> None:
    assert page(PAGE) == PAGE, "run python -m ultracrawl.dialects.fast_xml.table docs/fast.md"
    assert "| CORE |" in PAGE


def test_every_code_is_explained() -> None:
    assert [code.value for code in Code if f"| `{code.value}` |" not in PAGE] == []
