"""Public names, by which projects of others use this one, stay as they are listed.

`ULTRACRAWL_PUBLIC=write` writes the list anew: a changed or missing line breaks such projects, and belongs into the
changelog.
"""

from __future__ import annotations

import os
from pathlib import Path

from promises import WHOLE, python_names

LIST = Path(__file__).with_name("public_names.txt")


def test_public_names_stay() -> None:
    found = python_names()
    if os.environ.get("ULTRACRAWL_PUBLIC") == "write":
        LIST.write_text("\n".join(found) + "\n", encoding="utf-8")
    known = LIST.read_text(encoding="utf-8").splitlines()
    assert sorted(set(known) - set(found)) == [], "gone, or called otherwise"
    assert sorted(set(found) - set(known)) == [], "new: add them with ULTRACRAWL_PUBLIC=write"


def test_what_a_project_of_others_names_is_there() -> None:
    places = {line.partition("(")[0] for line in LIST.read_text(encoding="utf-8").splitlines()}
    needed = {
        "ultracrawl.crawl",
        "ultracrawl.Searcher",
        "ultracrawl.addon.UltracrawlAddon",
        "ultracrawl.model.Document",
        "ultracrawl.run.context_of",
    }
    assert needed <= places
    for package in WHOLE:
        assert any(place.startswith(f"{package}.") for place in places), package
