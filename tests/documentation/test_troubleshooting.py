"""Each command of the page of symptoms answers as the page shows, after one crawl of the sample intranet."""

import re
from pathlib import Path

import pytest
from documentation.pages import blocks
from documentation.reader import Reader
from support.project import ROOT

FIRST = ROOT / "docs" / "tutorial" / "first-search.md"
PAGE = ROOT / "docs" / "troubleshooting.md"


PORTAL = """
  portal:
    start_urls: ["http://127.0.0.1:8765/hr/"]
    politeness: {delay: 0}
    acl: everybody
    logins:
      staff: {page: "http://127.0.0.1:8765/it/", action: "http://127.0.0.1:8765/enter", fields: {user: anna}}
"""
"""A source whose log-in fails: the page has no form."""


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_each_command_tells_what_the_page_says(reader: Reader, tmp_path: Path) -> None:
    begun = FIRST.read_text(encoding="utf-8").partition("Crawl again:")[0]
    first = tmp_path / "begun.md"
    first.write_text(begun, encoding="utf-8")
    reader.follow(first)
    definition = tmp_path / "ultracrawl.yaml"
    definition.write_text(definition.read_text(encoding="utf-8") + reader.here(PORTAL), encoding="utf-8")
    failed = tmp_path / "failed.md"
    failed.write_text("```console\n$ ! ultracrawl crawl portal\n```\n", encoding="utf-8")
    reader.follow(failed)
    assert reader.follow(PAGE) == len(re.findall(r"(?m)^\$ ", "".join(blocks(PAGE, "console"))))


def test_each_symptom_has_a_command() -> None:
    symptoms = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert [one.splitlines()[0] for one in symptoms if "```console\n$ " not in one] == []
