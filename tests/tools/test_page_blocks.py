"""The count of code blocks on the pages that no test runs or reads."""

from __future__ import annotations

from pathlib import Path

import page_blocks
import pytest
from page_blocks import MOST_UNTESTED, ROOT, count, main, pages


def test_blocks_are_counted_by_what_tests_do_with_them(tmp_path: Path) -> None:
    tutorial = tmp_path / "docs" / "tutorial" / "first.md"
    tutorial.parent.mkdir(parents=True)
    tutorial.write_text("```console\n$ ls\n```\n\n```css\na {}\n```\n")
    (tmp_path / "docs" / "other.md").write_text("```console\n$ ls\n```\n\n```\nshown\n```\n")
    assert count(pages(tmp_path), tmp_path) == {"run": 1, "read": 1, "untested": 2}


@pytest.mark.parametrize("pattern", [*page_blocks.RUN, *page_blocks.READ])
def test_every_rule_is_about_a_page_that_exists(pattern: str) -> None:
    assert any(page.relative_to(ROOT).match(pattern) for page in pages())


def test_one_more_block_that_nothing_tests_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["--check"]) == 0
    monkeypatch.setattr(page_blocks, "MOST_UNTESTED", MOST_UNTESTED - 1)
    assert main(["--check"]) == 1
