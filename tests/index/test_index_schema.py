"""What every engine keeps of a document beside its words: parts, what links to them say, readers, depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ultracrawl.index import IndexDocument, IndexEngine, NewAnchors, SearchQuery
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.query.scoring import FIELDS
from ultracrawl.index.stored_fields import SCHEMA_VERSION
from ultracrawl.index.words.text import analyse
from ultracrawl.model.page import Section
from ultracrawl.rules.attributes.schema import SearchAttribute, attribute_schema

from .conftest import ATTRIBUTES, document

Found = Callable[..., list[str]]
PAD = "other words of the same length here"
PARTS = IndexDocument(
    "s", "/manual", "Manual", f"Herons wade. {PAD} Egrets wait. {PAD} ", {"Language": ["en"]},
    anchors=("all birds",),
    section_anchors=(("egrets", "white waders"), ("egrets", "the small one")),
    sections=(
        Section(0, 1, "top", "Wading herons"),
        Section(13, 2, "egret-behaviour", "Waiting"),
        Section(20, 7, "id-1.2.3", ""),
    ),
    acl=("staff", "Ann Lee"),
    depth=2,
)  # fmt: skip


def kept(engine: IndexEngine, url: str) -> IndexDocument:
    (found,) = (one for one in engine.documents() if one.url == url)
    return replace(found, attributes=PARTS.attributes)


@pytest.mark.parametrize("way", ["apply", "rebuild", "optimise", "search attributes"])
def test_parts_readers_and_depth_are_kept(engine: IndexEngine, way: str) -> None:
    engine.apply([PARTS, document("/plain", "x")])
    if way == "rebuild":
        engine.rebuild()
    elif way == "optimise":
        engine.apply([document("/other", "x")])
        engine.optimise()
    assert kept(engine, "/manual") == PARTS
    assert kept(engine, "/plain") == replace(document("/plain", "x"), attributes=PARTS.attributes)
    assert engine.check() == []


@pytest.mark.parametrize("kind", ["whoosh", "tantivy"])
def test_they_are_kept_over_commits_of_other_processes(tmp_path: Path, kind: str) -> None:
    config = IndexConfig(kind, tmp_path / "i", tuple(ATTRIBUTES.values()))
    for changes in ([PARTS], [NewAnchors("s", "/manual", ("birds",), (("top", "the top"),))]):
        index = open_index(config)
        index.apply(changes)
        index.close()
    index = open_index(config)
    expected = replace(PARTS, anchors=("birds",), section_anchors=(("top", "the top"),))
    assert kept(index, "/manual") == expected
    index.close()


SOUGHT: list[tuple[str, bool]] = [
    ("wading", True),
    ("waded", True),
    ('"wading herons"', True),
    ('"herons waiting"', False),
    ("behaviour", True),
    ('"egret behaviour"', True),
    ("behav*", True),
    ("id", False),
    ("waders", True),
    ('"small one"', True),
    ('"waders the"', False),
    ("title:wading", False),
]


@pytest.mark.filled_with([PARTS, document("/plain", "x")])
def test_headings_and_texts_of_links_to_parts_are_searched(found: Found, subtests: pytest.Subtests) -> None:
    for text, is_found in SOUGHT:
        with subtests.test(text):
            assert found(text) == (["/manual"] if is_found else [])


def test_new_texts_of_links_to_parts_are_searched_at_once(engine: IndexEngine, found: Found) -> None:
    engine.apply([PARTS, document("/plain", "x")])
    assert engine.apply([NewAnchors("s", "/manual", PARTS.anchors, (("top", "kingfisher"),))]) == 0
    assert (found("kingfisher"), found("waders"), found("behaviour")) == (["/manual"], [], ["/manual"])


def test_a_heading_counts_more_than_the_text(engine: IndexEngine, found: Found) -> None:
    with_heading = replace(document("/heading", f"{PAD} {PAD}", "H"), sections=(Section(0, 1, "", "zebra"),))
    engine.apply([with_heading, document("/text", f"{PAD} zebra {PAD}", "T")])
    assert found("zebra") == ["/heading", "/text"]


def test_every_searched_field_gets_words() -> None:
    analysed = analyse(PARTS)
    assert analysed.words.keys() == {field.name for field in FIELDS}
    assert {field.name for field in FIELDS if analysed.stems.get(field.name)} <= {
        field.name for field in FIELDS if field.stems
    }


def test_the_facts_say_the_schema_version(engine: IndexEngine) -> None:
    assert engine.facts().schema in (0, SCHEMA_VERSION)
    engine.apply([PARTS])
    facts = engine.facts()
    assert facts.schema == SCHEMA_VERSION
    assert facts.as_json()["schema"] == facts.as_json()["analysis"] == SCHEMA_VERSION
    assert engine.search(SearchQuery("waders")).total == 1


def test_the_words_of_a_searched_attribute_are_found_like_those_of_the_text(tmp_path: Path) -> None:
    for kind in ("whoosh", "tantivy"):
        for searched in (True, False):
            own = [SearchAttribute("Writer", searched=searched), SearchAttribute("Editor")]
            config = IndexConfig(kind, tmp_path / f"{kind}{searched}", tuple(attribute_schema(own).values()))
            assert IndexConfig.from_json(config.to_json()).attributes[-2].searched is searched
            index = open_index(config)
            named = {"Writer": ["Jordan Lee", "Ann Roe"], "Editor": ["Kim Poe"]}
            index.apply([IndexDocument("s", "/a", "A", "egrets wade", named)])
            queries = ["jordan", '"ann roe"', '"lee ann"', "jordan egrets", "kim"]
            hits = {text: index.search(SearchQuery(text)).total for text in queries}
            assert hits == dict(zip(queries, [1, 1, 0, 1, 0] if searched else [0] * 5, strict=True)), kind
            index.close()
