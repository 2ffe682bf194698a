"""Searchers for which only some sources exist, beside a private neighbour with the same words, in every engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from index.conftest import DISK_ENGINES

from ultracrawl.errors import UserError
from ultracrawl.index import IndexDocument, SearchResult
from ultracrawl.index.project_index import open_index
from ultracrawl.index.searching import Searcher
from ultracrawl.sources import load_project, require

DOCUMENTS = [
    IndexDocument("manual", "https://m.example/heron", "Heron", "the heron waits", {"Author": ["Ann"]}),
    IndexDocument("manual", "https://m.example/egret", "Egret", "the egret waits", {"Author": ["Bob"]}),
    IndexDocument("manual", "https://m.example/staff", "Staff heron", "the heron", acl=("staff",)),
    IndexDocument(
        "payroll", "https://p.example/heron", "Heron salaries", "heron kingfisher", {"Author": ["Eve"]}
    ),
    IndexDocument("payroll", "https://m.example/heron", "Heron", "the heron waits", {"Author": ["Eve"]}),
    IndexDocument("stranger", "https://s.example/heron", "Heron stranger", "heron kingfisher"),
]
NAMES_OF_OTHERS = (
    "payroll",
    "stranger",
    "secret-group",
    "salaries",
    "kingfisher",
    "Eve",
    "archive",
    "export",
)
Open = Callable[..., Searcher]


@pytest.fixture(params=DISK_ENGINES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    definition = {
        "index": {"engine": request.param, "path": "var/index"},
        "indexes": {"archive": {"engine": request.param, "path": "var/archive"}},
        "destinations": {"export": {"type": "jsonl", "path": "export.jsonl"}},
        "sources": {
            "manual": {"start_urls": ["https://m.example/"], "groups": ["all"], "public": True},
            "payroll": {"start_urls": ["https://p.example/"], "groups": ["all", "secret-group"]},
            "old": {
                "start_urls": ["https://o.example/"],
                "feeding": {"destinations": {"main": {"index": "archive"}}},
            },
        },
    }
    path = tmp_path / "ultracrawl.yaml"
    path.write_text(json.dumps(definition))
    index = open_index(require(load_project(path)))
    index.apply(DOCUMENTS)
    index.close()
    searchers: list[Searcher] = []

    def open_searcher(*within: str, **options: object) -> Searcher:
        searchers.append(Searcher(path, "default", within=within, principals=(), **options))
        return searchers[-1]

    yield open_searcher
    for one in searchers:
        one.close()


def text_of(result: SearchResult) -> str:
    return repr(asdict(replace(result, hits=tuple(result.hits))))


def test_hits_counts_facets_and_groups_are_of_the_public_source_alone(opened: Open) -> None:
    searcher = opened("manual")
    for options in ({}, {"groups": ["all"]}, {"sources": ["manual"]}, {"sort": "Author"}):
        result = searcher.search("heron", facets=["Author"], **options)
        assert [(hit.source, hit.url) for hit in result.hits] == [("manual", "https://m.example/heron")]
        assert result.total == 1
        assert [(one.value, one.count) for one in result.facets["Author"]] == [("Ann", 1)]
        assert not any(name in text_of(result) for name in NAMES_OF_OTHERS)
    assert searcher.groups == {"all": ("manual",)}
    assert searcher.count("") == 2
    assert searcher.count("kingfisher") == 0


def test_suggestions_and_completions_come_from_the_public_source_alone(opened: Open) -> None:
    searcher = opened("manual")
    assert searcher.search("kingfishre").suggestion == ""
    assert searcher.search("egert").suggestion == "egret"
    assert [(one.text, one.url) for one in searcher.complete("her")] == [("Heron", "https://m.example/heron")]
    assert searcher.complete("sala") == []


def test_documents_of_others_are_neither_shown_nor_compared(opened: Open) -> None:
    searcher = opened("manual")
    assert searcher.document("manual", "https://m.example/heron") is not None
    assert searcher.document("manual", "https://p.example/heron") is None
    with pytest.raises(UserError):
        searcher.search(like="https://p.example/heron")


@pytest.mark.parametrize(
    "deed",
    [
        lambda one: one.search("heron", sources=["payroll"]),
        lambda one: one.search("heron", sources=["no-such"]),
        lambda one: one.search("heron", groups=["secret-group"]),
        lambda one: one.complete("heron", sources=["payroll"]),
        lambda one: one.document("payroll", "https://p.example/heron"),
        lambda one: one.search(like="https://p.example/heron"),
    ],
)
def test_messages_name_no_other_source(opened: Open, deed: Callable[[Searcher], object]) -> None:
    with pytest.raises(UserError) as raised:
        deed(opened("manual"))
    asked = ("payroll", "secret-group")
    assert not any(name in str(raised.value) for name in NAMES_OF_OTHERS if name not in asked)


def test_a_private_source_is_refused_in_the_same_words_as_one_that_does_not_exist(opened: Open) -> None:
    messages = []
    for name in ("payroll", "no-such"):
        with pytest.raises(UserError) as raised:
            opened("manual").search("heron", sources=[name])
        messages.append(str(raised.value).replace(name, "NAME"))
    assert messages[0] == messages[1]


def test_without_any_source_nothing_is_found(opened: Open) -> None:
    for within in ((), ("no-such",)):
        searcher = opened(*within)
        assert searcher.search("heron").total == 0
        assert searcher.search("", facets=["Author"]).facets["Author"] == ()
        assert searcher.complete("her") == []
        assert searcher.search("herno").suggestion == ""
        assert searcher.groups == {}


def test_only_indexes_of_the_public_sources_exist(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "ultracrawl.yaml"
    for name in ("archive", "export", "no-such"):
        with pytest.raises(UserError) as raised:
            Searcher(path, name, within=["manual"])
        assert not any(other in str(raised.value) for other in ("archive", "export") if other != name)
    with Searcher(path, within=["old"]) as searcher:
        assert searcher.search("heron").total == 0


def test_without_a_limit_all_sources_exist(opened: Open, tmp_path: Path) -> None:
    with Searcher(tmp_path / "ultracrawl.yaml", "default", principals=()) as searcher:
        assert {hit.source for hit in searcher.search("heron").hits} >= {"manual", "payroll"}
        assert set(searcher.groups) == {"all", "secret-group"}
