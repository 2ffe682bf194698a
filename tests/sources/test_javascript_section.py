"""The section `javascript`: values and mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.sources import load_project


def load(tmp_path: Path, text: str):
    file = tmp_path / "ultracrawl.yaml"
    file.write_text("sources:\n  s:\n    start_urls: [https://a.example/]\n" + text)
    return load_project(file)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("wait", "-1"),
        ("wait_for", "'#a['"),
        ("wait_for", "[1]"),
        ("quiet_time", "long"),
        ("max_wait", "-0.1"),
        ("scrolls", "-1"),
        ("scrolls", "often"),
        ("waits", "1"),
    ],
)
def test_mistakes_have_their_line(tmp_path: Path, name: str, written: str) -> None:
    (finding,) = load(tmp_path, f"    javascript:\n      use: true\n      {name}: {written}\n").findings
    assert f"javascript.{name}" in str(finding)
    assert "ultracrawl.yaml:6" in str(finding)
