"""`ultracrawl search` and `Searcher` over a project: groups, conditions, facets, help with spelling."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from support.in_process import InProcessWorkspace
from support.project import Workspace
from support.sentences import sentence

from ultracrawl.errors import UserError
from ultracrawl.index import FacetValue, Filter, IndexDocument, Operator
from ultracrawl.index.project_index import open_index
from ultracrawl.index.searching import Searcher
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions

DEFINITION = {
    "attributes": {"Size": "number"},
    "index": {"path": "index", "boosts": {"http://h/manual/*": 4}},
    "sources": {
        "manual": {"start_urls": ["http://h/"], "groups": ["books", "staff"]},
        "wiki": {"start_urls": ["http://h/"], "groups": "staff"},
        "news": {"start_urls": ["http://h/"]},
    },
}


@pytest.fixture
def filled(tmp_path: Path) -> Workspace:
    workspace = InProcessWorkspace(tmp_path)
    workspace.write(DEFINITION)
    index = open_index(require(read_definitions(tmp_path / "ultracrawl.yaml")))
    index.apply(
        IndexDocument(
            source,
            f"http://h/{source}/{n}",
            f"Page {n}",
            "the grey heron",
            {"Size": [n], "Author": ["Ann", f"A{n}"]},
        )
        for source in ("manual", "wiki", "news")
        for n in (1, 2)
    )
    index.close()
    return workspace


def found(searcher: Searcher, text: str = "heron", **options: object) -> set[str]:
    return {hit.url.removeprefix("http://h/") for hit in searcher.search(text, **options).hits}  # type: ignore[arg-type]


def test_ultra_search_133_data_groups(filled: Workspace) -> None:
    with Searcher.open(filled.directory / "ultracrawl.yaml") as searcher:
        assert searcher.groups == {"books": ("manual",), "staff": ("manual", "wiki")}
        assert found(searcher, groups=["books"]) == {"manual/1", "manual/2"}
        assert found(searcher, groups=["staff"]) == {"manual/1", "manual/2", "wiki/1", "wiki/2"}
        assert found(searcher, groups=["books"], sources=["news"]) == {
            "manual/1",
            "manual/2",
            "news/1",
            "news/2",
        }
        with pytest.raises(
            UserError, match="no data group is named 'none'; the data groups are: books, staff"
        ):
            searcher.search("heron", groups=["none"])


def counts(found: Iterable[FacetValue]) -> dict[object, int]:
    return {one.value: one.count for one in found}


def test_sources_and_groups_are_counted_whichever_are_chosen(filled: Workspace) -> None:
    with Searcher.open(filled.directory / "ultracrawl.yaml") as searcher:
        for chosen in ({}, {"groups": ["books"]}, {"sources": ["news"]}):
            result = searcher.search("heron", count_sources=True, **chosen)
            assert counts(result.sources) == {"manual": 2, "wiki": 2, "news": 2}
            assert counts(result.groups) == {"books": 2, "staff": 4}
        assert searcher.search("heron").groups == ()


def test_other_sources_do_not_exist_for_a_searcher_of_some(filled: Workspace) -> None:
    with Searcher(filled.directory / "ultracrawl.yaml", within=["wiki"]) as searcher:
        assert found(searcher) == {"wiki/1", "wiki/2"}
        assert searcher.groups == {"staff": ("wiki",)}
        result = searcher.search("heron", groups=["staff"], count_sources=True, facets=["Author"])
        assert counts(result.sources) == {"wiki": 2}
        assert counts(result.groups) == {"staff": 2}
        assert sum(one.count for one in result.facets["Author"]) == sum(
            len(hit.attributes["Author"]) for hit in result.hits
        )
        for asked in ({"sources": ["manual"]}, {"groups": ["books"]}):
            with pytest.raises(UserError):
                searcher.search("heron", **asked)
        with pytest.raises(UserError):
            searcher.document("manual", "http://h/manual/1")


def test_searcher_answers_what_the_engine_does(filled: Workspace) -> None:
    with Searcher.open(filled.directory / "ultracrawl.yaml") as searcher:
        assert found(searcher, filters=["Size>=2", "Author=ann"]) == {"manual/2", "wiki/2", "news/2"}
        assert found(searcher, filters=["Author=A1", "author=A2"], sources=["news"]) == {"news/1", "news/2"}
        assert found(
            searcher, filters=[Filter("Author", Operator.ALL_OF, ("Ann", "A1"))], groups=["books"]
        ) == {"manual/1"}
        assert searcher.count("heron", groups=["staff"]) == 4
        assert searcher.attributes["Size"] == "number"


def test_boosts_of_the_definition_raise_documents(filled: Workspace) -> None:
    with Searcher.open(filled.directory / "ultracrawl.yaml") as searcher:
        first = searcher.search("heron", limit=2).hits
    assert {hit.source for hit in first} == {"manual"}
    filled.write({**DEFINITION, "index": {"path": "index", "boosts": {"http://h/news/2": 9}}})
    with Searcher.open(filled.directory / "ultracrawl.yaml") as searcher:
        assert searcher.search("heron").hits[0].url == "http://h/news/2"


def test_documents_are_shown_to_their_readers(filled: Workspace) -> None:
    index = open_index(require(read_definitions(filled.directory / "ultracrawl.yaml")))
    url, text = "http://h/manual/pay", "heron salaries"
    index.apply([IndexDocument("manual", url, "Pay", text, {"Author": ["Boss"]}, acl=("staff", "Ann Lee"))])
    index.close()
    file = filled.directory / "ultracrawl.yaml"
    for principals, count in (
        ((), 6),
        (("Ann Lee", "x"), 7),
        (["staff"], 7),
        ("staff", 7),
        (("Staff",), 6),
        (None, 7),
    ):
        with Searcher(file, principals=principals) as searcher:
            assert searcher.count("heron") == count
            assert ("manual/pay" in found(searcher)) == (count == 7)
    with Searcher(file) as searcher, pytest.raises(UserError, match=sentence("search.index_no_document")):
        searcher.search(like=url)
    asked = ("search", "--json", "--facet", "Author", "salaries")
    nobody, staff = filled.command(*asked), filled.command(*asked, "--principal", "staff")
    assert (nobody.json["total"], nobody.json["facets"], nobody.json["suggestion"]) == (0, {"Author": []}, "")
    assert [hit["url"] for hit in staff.json["hits"]] == [url]
    assert "Ann Lee" not in staff.out, "who else may see it is nobody's business"
    everybody = filled.command(*asked, "--all-principals")
    assert everybody.json["hits"] == staff.json["hits"]


def test_command_line_options(filled: Workspace) -> None:
    asked = [
        "--group",
        "staff",
        "--where",
        "Size<2",
        "--all",
        "Author=Ann",
        "--all",
        "Author=A1",
        "--facet",
        "Author",
    ]
    answer = filled.command("search", "--json", *asked, "heron").json
    assert {hit["url"] for hit in answer["hits"]} == {"http://h/manual/1", "http://h/wiki/1"}
    assert answer["facets"] == {"Author": [{"value": "A1", "count": 2}, {"value": "Ann", "count": 2}]}
    page = filled.command("search", "--json", "--sort", "Size", "--limit", "2", "--offset", "4").json
    assert (page["total"], len(page["hits"])) == (6, 2)
    alike = filled.command("search", "--json", "--like", "http://h/news/1", "--source", "news").json
    assert [hit["url"] for hit in alike["hits"]] == ["http://h/news/2"]


def test_a_misspelt_word_gets_a_suggestion(filled: Workspace) -> None:
    found = filled.command("search", "--json", "hexon").json
    assert (found["suggestion"], found["corrected"]) == ("heron", True)
    assert [hit["url"] for hit in found["hits"]] == [
        hit["url"] for hit in filled.command("search", "--json", "heron").json["hits"]
    ]
    typed = filled.command("search", "--json", "--as-typed", "hexon").json
    assert (typed["suggestion"], typed["corrected"], typed["total"]) == ("heron", False, 0)
    assert filled.command("search", "hexon").out.startswith(sentence("search.corrected"))
    assert filled.command("search", "--as-typed", "hexon").out.startswith(sentence("search.did_you_mean"))


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["--group", "none"], "none"),
        (["--where", "Size~3"], "Size~3"),
        (["--all", "Size"], "Size"),
        (["--facet", "Colour"], "Colour"),
        (["--like", "http://h/none"], "http://h/none"),
        (["--principal", "staff", "--all-principals"], "--all-principals"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_mistakes_are_one_line(filled: Workspace, words: list[str], place: str) -> None:
    ended = filled.command("search", *words, "heron")
    assert ended.code == 2
    assert place in ended.err
    assert ended.err.count("\n") == 1
