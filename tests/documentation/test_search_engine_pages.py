"""The page of each search engine: ten lines that are a definition, and a query of fields that records have."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from documentation.pages import blocks, commands
from support.project import ROOT

from ultracrawl.index import IndexDocument
from ultracrawl.index.destinations.engines.records import SECTIONS, records_of
from ultracrawl.model.page import Section
from ultracrawl.sources.dialects import read_definitions

FOLDER = ROOT / "docs" / "search-engines"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md"))
LONGEST = 10
_NAMED = re.compile(r'hit\.(\w+)|attribute: "(\w+)"|query_by: "([^"]+)"|"(\w+) ?:?= ?true"')


def definition(page: str) -> str:
    (text,) = blocks(FOLDER / f"{page}.md", "yaml")
    return text


def test_there_is_a_page_for_each_engine() -> None:
    assert PAGES == ["meilisearch", "opensearch", "solr", "typesense"]


@pytest.mark.parametrize("page", PAGES)
def test_ten_lines_are_read_without_a_mistake(
    page: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = definition(page)
    assert len(text.splitlines()) <= LONGEST
    for name in re.findall(r"\$\{(\w+)\}", text):
        monkeypatch.setenv(name, "s3cret")
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(text)
    assert not list(read_definitions(file).findings)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_are_about_its_source(page: str) -> None:
    (text,) = blocks(FOLDER / f"{page}.md", "console")
    named = [words[-1] for words in commands(text) if len(words) > 1]
    assert set(named) == set(yaml.safe_load(definition(page))["sources"])
    assert ["lint"] in list(commands(text))


@pytest.mark.parametrize("page", ["meilisearch", "typesense"])
def test_the_box_names_fields_of_records(page: str) -> None:
    """The queries of the other two pages are asked of real servers where destinations are tested."""
    (script,) = blocks(FOLDER / f"{page}.md", "js")
    section = IndexDocument("s", "/a", "A", "A\nwords", sections=(Section(0, 1, "", "A"),))
    fields = set(next(iter(records_of(section, SECTIONS))))
    named = {name for part in _NAMED.findall(script) for name in part if name}
    names = {re.split("[.:]", one)[0] for names in named for one in names.split(",")}
    assert names >= {"content", "public", "url", "hierarchy"}
    assert names <= fields
