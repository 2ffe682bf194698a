"""How definitions are read whose sources are of a kind with options of its own."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import yaml
from support.named import named
from support.shelf import Shelf, ShelfSection

from ultracrawl.model import DefinitionError
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.schema import json_schema

pytestmark = pytest.mark.usefixtures("kind")


def define(folder: Path, source: dict[str, object], **top: object) -> Project:
    file = folder / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({**top, "sources": {"s": {"type": "shelf", **source}}}, sort_keys=False))
    return require(read_definitions(file))


def mistake(folder: Path, source: dict[str, object]) -> tuple[int, str, list[str]]:
    """Return the line of the one mistake, the option, and what is named in what to write."""
    with pytest.raises(DefinitionError) as raised:
        define(folder, source)
    (finding,) = raised.value.findings
    return finding.line, finding.key, named(finding.instead)


def test_the_options_of_a_kind_stand_beside_those_that_all_sources_have(tmp_path: Path) -> None:
    source = define(tmp_path, {"shelf": "books", "groups": ["staff"]}).sources["s"]
    assert isinstance(source, ShelfSection)
    assert (source.shelf, source.room, source.groups, source.type) == (Path("books"), 3, ("staff",), "shelf")


def test_a_mistake_in_an_option_of_a_kind_has_its_line_and_what_to_write(tmp_path: Path) -> None:
    assert mistake(tmp_path, {"shelf": "books", "rom": 2}) == (5, "sources.s.rom", ["room"])
    assert mistake(tmp_path, {}) == (2, "sources.s.shelf", ["shelf: shelf"])


@pytest.mark.parametrize(
    ("option", "value"), [("start_urls", ["https://a.example/"]), ("boundary", {"ports": {}}), ("ftp", {})]
)
def test_a_shared_option_without_sense_for_a_kind_is_a_mistake_where_it_is_written(
    tmp_path: Path, option: str, value: object
) -> None:
    assert mistake(tmp_path, {"shelf": "books", option: value}) == (5, f"sources.s.{option}", [])


def test_the_same_option_among_the_defaults_says_nothing_to_the_source(tmp_path: Path) -> None:
    defaults = {"refresh": {"mode": "known", "interval": "1 d"}, "robots": {"name": "us"}}
    source = define(tmp_path, {"shelf": "books"}, defaults=defaults).sources["s"]
    assert (source.refresh.mode, source.refresh.interval) == ("scratch", 86400)
    assert (source.robots.obey, source.sitemaps.use) == (False, False)


def test_a_group_of_options_belongs_to_types_that_are_spiders(tmp_path: Path) -> None:
    assert mistake(tmp_path, {"shelf": "books", "options": {"a": 1}}) == (5, "sources.s.options", ["type"])


def test_ultra_search_118_only_web_sources_can_be_examined(tmp_path: Path) -> None:
    assert mistake(tmp_path, {"shelf": "books", "crawling_mode": "examine"})[1] == "sources.s.crawling_mode"


def test_the_schema_for_editors_has_the_options_of_each_kind(kind: Shelf) -> None:
    schema = json_schema()
    (described,) = schema["properties"]["sources"]["patternProperties"].values()  # type: ignore[index,call-overload]
    while described["if"]["properties"]["type"]["const"] != "shelf":
        described = described["else"]
    group = schema["$defs"][described["then"]["$ref"].rpartition("/")[2]]  # type: ignore[index,call-overload]
    properties = group["anyOf"][0]["properties"]
    assert properties["shelf"]["description"] == "The folder with `shelf.json` and the documents."
    assert "start_urls" in properties


def test_a_source_of_a_kind_goes_to_another_process_whole(tmp_path: Path) -> None:
    source = define(tmp_path, {"shelf": "books", "groups": ["staff"]}).sources["s"]
    there = pickle.loads(pickle.dumps(source))
    assert there == source
    assert (type(there), there.model_fields_set) == (type(source), source.model_fields_set)
