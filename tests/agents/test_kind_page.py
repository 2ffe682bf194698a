"""The page about kinds of one's own: its kind is a kind."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from support.project import ROOT, Workspace

PAGE = (ROOT / "docs/sources/own-kind.md").read_text()


def test_the_kind_of_the_page_runs_as_it_is_printed(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, entry = (
        re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[0] for language in ("python", "toml")
    )
    about = tmp_path / "installed" / "cards-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: cards\nVersion: 1.0\n")
    lines = entry.replace(
        '[project.entry-points."ultracrawl.source_kinds"]', "[ultracrawl.source_kinds]"
    ).replace('"', "")
    (about / "entry_points.txt").write_text(lines)
    (about.parent / "cards.py").write_text(code)
    monkeypatch.delitem(sys.modules, "cards", raising=False)
    monkeypatch.syspath_prepend(str(about.parent))
    workspace.write({"sources": {"s": {"type": "card", "cards": "cards.txt"}}})
    (tmp_path / "cards.txt").write_text("first words\nsecond words\nthird words\n")
    assert workspace.command("crawl", "s", "--json").run["outcomes"]["NEW"] == 3
    (tmp_path / "cards.txt").write_text("first words\nchanged words\n")
    run = workspace.command("crawl", "s", "--json").run
    assert (run["outcomes"]["NOT_MODIFIED"], run["outcomes"]["MODIFIED"], run["deleted"]) == (1, 1, 1)
    found = workspace.command("search", "words", "--json").json["hits"]
    assert sorted(hit["title"] for hit in found) == ["Card 0", "Card 1"]
