"""The section `javascript`: values and mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.one_source import load_one

MISTAKES = [
    ("use", "sometimes"),
    ("keep_html", "perhaps"),
    ("wait", "-1"),
    ("wait_for", "'#a['"),
    ("wait_for", "[1]"),
    ("quiet_time", "long"),
    ("max_wait", "-0.1"),
    ("scrolls", "-1"),
    ("scrolls", "often"),
    ("hash_routes", "all"),
    ("post_data", "2"),
    ("waits", "1"),
]


def test_mistakes_have_their_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, written in MISTAKES:
        with subtests.test(name, written=written):
            (finding,) = load_one(
                tmp_path, f"    javascript:\n      parts: 5\n      {name}: {written}\n"
            ).findings
            assert f"javascript.{name}" in str(finding)
            assert "ultracrawl.yaml:6" in str(finding)


@pytest.mark.parametrize(
    ("written", "use"), [("auto", "auto"), ("true", True), ("{use: auto}", "auto"), ("", False)]
)
def test_use_has_a_short_form(tmp_path: Path, written: str, use: bool | str) -> None:
    loaded = load_one(tmp_path, f"    javascript: {written}\n")
    assert loaded.findings == ()
    assert loaded.project.sources["s"].javascript.use == use


def test_a_short_form_that_is_wrong_has_its_line(tmp_path: Path) -> None:
    (finding,) = load_one(tmp_path, "    javascript: sometimes\n").findings
    assert "ultracrawl.yaml:4" in str(finding)
