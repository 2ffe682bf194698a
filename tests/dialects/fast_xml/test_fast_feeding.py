"""The destinations of FAST collections (5.10): which index each is, which is primary, what is forgiven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.fast import fast_xml
from support.sentences import sentence

from ultracrawl.sources import DataSource, Loaded, Project
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.sections.documents.destinations import Destination

START = {"start_uris": ("http://a.example/",)}


def load(folder: Path, options: dict[str, Any], inside: str = "") -> Loaded:
    (folder / "collection.xml").write_text(fast_xml({**START, **options}, inside=inside))
    return read_definitions(folder / "collection.xml")


def project(loaded: Loaded) -> Project:
    assert loaded.project, [str(finding) for finding in loaded.findings]
    return loaded.project


def source(loaded: Loaded) -> DataSource:
    return project(loaded).sources["handbook"]


TWO = {"feeding/site/collection": "web pages", "feeding/copy/collection": "archive"}
FIRST = Destination("site", "web-pages", False)
SECOND = Destination("copy", "archive", False)
ONLY = Destination("site", "archive", False)


DESTINATIONS: dict[str, tuple[dict[str, Any], tuple[Destination, ...], str]] = {
    "fast_121-none": ({}, (), ""),
    "fast_121-another": ({"feeding/site/collection": "web pages"}, (FIRST,), ""),
    "fast_121-own name": (
        {"feeding/site/collection": "handbook"},
        (Destination("site", "default", False),),
        "",
    ),
    "fast_124-first": ({**TWO, "feeding/site/primary": True}, (FIRST, SECOND), ""),
    "fast_124-second": ({**TWO, "feeding/copy/primary": True}, (SECOND, FIRST), ""),
    "fast_124-none": (TWO, (FIRST, SECOND), "N-CONFLICT: no destination is primary; `site` is"),
    "fast_124-both": (
        {**TWO, "feeding/site/primary": True, "feeding/copy/primary": True},
        (FIRST, SECOND),
        "N-CONFLICT: several destinations are primary; `site` is",
    ),
    "fast_123-paused": (
        {**TWO, "feeding/site/primary": True, "feeding/copy/paused": True},
        (FIRST, Destination("copy", "archive", True)),
        "",
    ),
    "fast_122-default": (
        {"feeding/site/collection": "archive", "feeding/site/destination": "default"},
        (ONLY,),
        "",
    ),
    "fast_122-other": (
        {"feeding/site/collection": "archive", "feeding/site/destination": "other"},
        (ONLY,),
        "N-RANGE",
    ),
    "fast_121-twice": (
        {
            "feeding/site/collection": "archive",
            "feeding/site/primary": True,
            "feeding/copy/collection": "archive",
        },
        (ONLY,),
        sentence("fast.n_conflict_copy_collection_another"),
    ),
}


def test_destinations(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (options, expected, told) in DESTINATIONS.items():
        with subtests.test(name):
            loaded = load(tmp_path, options)
            assert source(loaded).feeding.in_order == expected
            problems = [one.problem for one in loaded.findings]
            assert bool(problems) is bool(told)
            assert told in "".join(problems)
            named = {one.index for one in expected} - {"default"}
            assert {name: one.path for name, one in project(loaded).indexes.items()} == {
                name: tmp_path / "var/indexes" / name for name in named
            }


def test_fast_121_a_destination_without_a_collection_is_an_error(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"feeding/site/paused": True})
    assert [one.problem for one in loaded.fatal] == [sentence("fast.destination_without_collection")]


def test_fast_121_sub_collections_feed_what_the_collection_feeds(tmp_path: Path) -> None:
    sub = '<SubDomain name="news"><section name="include_uris"><attrib name="prefix" type="list-string">'
    sub += "<member> http://a.example/news/ </member></attrib></section></SubDomain>"
    sources = project(load(tmp_path, {"feeding/site/collection": "handbook"}, sub)).sources
    assert {one.feeding.in_order for one in sources.values()} == {(Destination("site", "default", False),)}
    assert len(sources) == 2


def test_labels_that_would_be_the_same_are_two_destinations(tmp_path: Path) -> None:
    labels = {"feeding/a b/collection": "one", "feeding/a-b/collection": "two", "feeding/a-b/primary": True}
    found = source(load(tmp_path, labels)).feeding.destinations
    assert {name: entry.index for name, entry in found.items()} == {"a-b": "one", "a-b-2": "two"}
    assert [name for name, entry in found.items() if entry.primary] == ["a-b-2"]
