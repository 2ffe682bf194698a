"""Codes of causes are a promise to programs: the page of commands names them all, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from ultracrawl.model import CauseCode

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_names_all_codes_of_causes() -> None:
    _, _, text = PAGE.read_text().partition("`cause` is the code of `reason`")
    listed = [line for line in text.partition("###")[0].splitlines() if line.startswith(("* ", "  "))]
    named = re.findall(r"`([a-z-]+)`", " ".join(listed))
    assert sorted(named) == sorted(code.value for code in CauseCode if code.value)
