"""docs/fast.md explains every notice; its tables are tested with tools/fast_tables.py."""

from __future__ import annotations

from pathlib import Path

from ultracrawl.dialects.fast_xml.notices import Code

PAGE = (Path(__file__).parents[3] / "docs" / "fast.md").read_text()


def test_every_code_is_explained() -> None:
    assert [code.value for code in Code if f"| `{code.value}` |" not in PAGE] == []
