"""Each kind of query by `ultracrawl search` and by `Searcher`, on each engine on disk: the same answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from support.sentences import sentence

from ultracrawl.cli.main import cli
from ultracrawl.index import Deletion, Filter, IndexDocument, Operator, SearchResult, as_html
from ultracrawl.index.project_index import open_index
from ultracrawl.index.searching import Searcher
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions


def day(year: int) -> datetime:
    return datetime(year, 5, 1, tzinfo=UTC)


def bird(name: str, text: str, source: str = "birds", title: str = "", **more: Any) -> IndexDocument:
    anchors = more.pop("anchors", ())
    values = {"Language": ["en"], **more}
    return IndexDocument(source, f"http://h/{name}", title or name.title(), text, values, anchors=anchors)


DOCUMENTS = [
    bird("heron", "The grey heron waits at the water. <b>Herons</b> & egrets.", Author=["Ann Lee"], Size=[90],
         Country=["de"], LastModifiedDate=[day(2022)]),
    bird("egret", "The egret waits; the grey water moves.", Author=["Bob Ray", "Ann Lee"], Size=[60], Country=["fr"],
         LastModifiedDate=[day(2023)], anchors=("white heron",)),
    bird("stork", "A stork stands on a roof.", "village", Author=["Bob Ray"], Size=[110], Country=["de"],
         LastModifiedDate=[day(2024)]),
    bird("pond", "Water for a heron.", "village", Language=["de"]),
]  # fmt: skip


@pytest.fixture(params=["whoosh", "tantivy"], scope="module")
def definition(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    file = folder / "ultracrawl.yaml"
    source = {"start_urls": ["http://h/"]}
    project = {
        "index": {"path": str(folder / "index"), "engine": request.param, "boosts": {"http://h/pond": 50}},
        "state": {"path": str(folder / "state")},
        "attributes": {"Size": "number", "Country": "string"},
        "lists": {"Country": {"de": {"en": "Germany", "de": "Deutschland"}}},
        "sources": {"birds": {**source, "groups": "nature"}, "village": source},
    }
    file.write_text(yaml.safe_dump(project))
    index = open_index(require(read_definitions(file)))
    index.apply(DOCUMENTS)
    index.close()
    return file


@dataclass(frozen=True)
class Way:
    """A question as words of the command line and as arguments of `Searcher.search`; names sorted unless ordered."""

    words: list[str]
    names: list[str]
    text: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    ordered: bool = False


ALL = ["egret", "heron", "pond", "stork"]
WAYS = {
    "word": Way(["stand"], ["stork"], "stand"),
    "words": Way(["grey water"], ["egret", "heron"], "grey water"),
    "phrase": Way(['"grey water"'], ["egret"], '"grey water"'),
    "and": Way(["grey AND heron"], ["egret", "heron"], "grey AND heron"),
    "or": Way(["stork OR egret"], ["egret", "heron", "stork"], "stork OR egret"),
    "not": Way(["heron NOT pond"], ["egret", "heron"], "heron NOT pond"),
    "plus and minus, ultra_search_130": Way(["+water -grey"], ["pond"], "+water -grey"),
    "prefix, ultra_search_130": Way(["sto*"], ["stork"], "sto*"),
    "anchor text": Way(['"white heron"'], ["egret"], '"white heron"'),
    "field": Way(["Author:lee"], ["egret", "heron"], "Author:lee"),
    "number, ultra_search_132": Way(["--where", "Size>=90"], ["heron", "stork"], options={"filters": ["Size>=90"]}),
    "number range, ultra_search_132": Way(["Size:60..90"], ["egret", "heron"], "Size:60..90"),
    "date range, ultra_search_132": Way(
        ["--where", "LastModifiedDate=2022..2023"], ["egret", "heron"],
        options={"filters": ["LastModifiedDate=2022..2023"]},
    ),
    "date before, ultra_search_132": Way(["LastModifiedDate:<2023"], ["heron"], "LastModifiedDate:<2023"),
    "any of, ultra_search_134": Way(
        ["--where", "Country=de", "--where", "Country=fr"], ["egret", "heron", "stork"],
        options={"filters": ["Country=de", "Country=fr"]},
    ),
    "all of, ultra_search_134": Way(
        ["--all", "Author=Ann Lee", "--all", "Author=Bob Ray"], ["egret"],
        options={"filters": [Filter("Author", Operator.ALL_OF, ("Ann Lee", "Bob Ray"))]},
    ),
    "group, ultra_search_133": Way(["--group", "nature"], ["egret", "heron"], options={"groups": ["nature"]}),
    "source": Way(["--source", "village"], ["pond", "stork"], options={"sources": ["village"]}),
    "document language": Way(["--where", "Language=de"], ["pond"], options={"filters": ["Language=de"]}),
    "sorted": Way(["--sort", "Size"], ["egret", "heron", "stork", "pond"], options={"sort": "Size"}, ordered=True),
    "sorted by date": Way(
        ["--sort", "-LastModifiedDate", "--limit", "2"], ["stork", "egret"],
        options={"sort": "-LastModifiedDate", "limit": 2}, ordered=True,
    ),
    "page": Way(["--sort", "Size", "--limit", "2", "--offset", "1"], ["heron", "stork"],
                options={"sort": "Size", "limit": 2, "offset": 1}, ordered=True),
    "boosted URL first": Way(["heron"], ["pond", "heron", "egret"], "heron", ordered=True),
    "alike": Way(["--like", "http://h/heron"], ["egret", "pond"], options={"like": "http://h/heron"}),
    "everything": Way([], ALL),
}  # fmt: skip


def run(definition: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["search", "-c", str(definition), *words])


@pytest.mark.parametrize("sort", ["-LastModifiedDate", "lastmodifieddate"])
def test_hits_in_the_order_of_a_date_have_it_beside_their_url(definition: Path, sort: str) -> None:
    days = {"stork": "2024-05-01", "egret": "2023-05-01", "heron": "2022-05-01", "pond": "no date"}
    shown = {line.strip() for line in run(definition, "--sort", sort).output.splitlines()}
    assert shown >= {f"http://h/{name}  {day}" for name, day in days.items()}


@pytest.mark.parametrize("words", [["heron"], ["--sort", "Size"], ["--sort", "Author"]])
def test_hits_in_another_order_have_no_date(definition: Path, words: list[str]) -> None:
    told = run(definition, *words).output
    assert "http://h/heron" in told
    assert not {"2022-05-01", "no date"} & {
        line.partition("  ")[2] for line in map(str.strip, told.splitlines())
    }


def asked(definition: Path, *words: str) -> Any:
    result = run(definition, "--json", *words)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def names(urls: list[str], *, ordered: bool) -> list[str]:
    found = [url.removeprefix("http://h/") for url in urls]
    return found if ordered else sorted(found)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_command_line_and_python_find_the_same(definition: Path, way: Way) -> None:
    by_words = asked(definition, *way.words)
    assert names([hit["url"] for hit in by_words["hits"]], ordered=way.ordered) == way.names
    with Searcher.open(definition) as searcher:
        result = searcher.search(way.text, **way.options)
    assert names([hit.url for hit in result.hits], ordered=way.ordered) == way.names
    assert result.total == by_words["total"] >= len(way.names)


def test_facets_are_counted_and_named_in_the_users_language(definition: Path) -> None:
    facets = asked(definition, "--facet", "Country", "--facet", "LastModifiedDate", "--language", "de-AT")[
        "facets"
    ]
    assert facets["Country"][0] == {"value": "de", "count": 2, "display_name": "Deutschland"}
    assert [(one["value"], one["count"]) for one in facets["LastModifiedDate"]] == [
        ("2022", 1),
        ("2023", 1),
        ("2024", 1),
    ]
    assert "Country: Germany (2), fr (1)" in run(definition, "--facet", "Country", "--language", "en").output
    with Searcher.open(definition) as searcher:
        (first, _) = searcher.search(facets=["Country"]).facets["Country"]
        assert (first.value, first.count) == ("de", 2)
        assert searcher.display_name("Country", first.value, "en") == "Germany"
        assert searcher.display_name("Country", "fr", "en") == "fr"
        assert searcher.display_name("Size", 90.0) == "90"
        assert [one.value for one in searcher.lists["Country"].values] == ["de"]


def test_an_index_without_documents_is_distinguished_from_one_without_hits(
    definition: Path, tmp_path: Path
) -> None:
    new = tmp_path / "ultracrawl.yaml"
    new.write_text("sources: {birds: {start_urls: ['http://h/']}}")
    ended = CliRunner().invoke(cli, ["search", "heron", "-c", str(new)])
    assert (ended.exit_code, ended.output.strip()) == (
        0, sentence("search.index_is_empty")
    )  # fmt: skip
    ended = CliRunner().invoke(cli, ["search", "xylophone", "-c", str(definition)])
    assert ended.output.splitlines() == sentence("search.nothing_found").splitlines()


def test_documents_that_readers_alone_find_are_no_empty_index(definition: Path, tmp_path: Path) -> None:
    project = yaml.safe_load(definition.read_text())
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(
        yaml.safe_dump({**project, "index": {**project["index"], "path": str(tmp_path / "index")}})
    )
    index = open_index(require(read_definitions(file)))
    index.apply([replace(document, acl=("staff",)) for document in DOCUMENTS])
    index.close()
    told = [sentence("search.left_out")]
    assert CliRunner().invoke(cli, ["search", "heron", "-c", str(file)]).output.splitlines() == told
    lee = ["--principal", "lee"]
    told_to_lee = CliRunner().invoke(cli, ["search", "heron", "-c", str(file), *lee]).output
    assert told_to_lee == CliRunner().invoke(
        cli, ["search", "xylophone", "-c", str(file), *lee]
    ).output.replace("xylophone", "heron"), "who is named may not know of documents of others"
    ended = CliRunner().invoke(cli, ["search", "xylophone", "-c", str(file)])
    assert ended.output.splitlines() == sentence("search.nothing_found").splitlines()


def test_a_misspelt_word_is_put_right(definition: Path) -> None:
    assert asked(definition, "strok")["suggestion"] == "stork"
    with Searcher.open(definition) as searcher:
        found, typed = searcher.search("strok"), searcher.search("strok", as_typed=True)
        assert (found.suggestion, found.corrected, found.total) == ("stork", True, searcher.count("stork"))
        assert (typed.suggestion, typed.corrected, typed.total) == ("stork", False, 0)


READINGS = [
    ("where is the stork", "all words", ""),
    (
        "stork unicorn",
        "any word",
        sentence("search.not_every_document_most_words"),
    ),
    ("grey egret unicorn", "most words", sentence("search.not_every_document_all_words")),
    (
        "roof.stork",
        "parts",
        sentence("search.not_every_document_names_as"),
    ),
]


@pytest.mark.parametrize(("text", "reading", "line"), READINGS, ids=[one[1] for one in READINGS])
def test_a_looser_reading_is_reported(definition: Path, text: str, reading: str, line: str) -> None:
    answer = asked(definition, text)
    assert answer["reading"] == reading
    assert answer["hits"]
    output = run(definition, text).output
    assert output.startswith(line)
    with Searcher.open(definition) as searcher:
        assert searcher.search(text).reading == reading
        assert searcher.count(text) == answer["total"]
        assert searcher.search(text, sources=["village"], filters=["Size>=110"]).total <= 1


def test_a_query_needs_no_quotation_marks(definition: Path) -> None:
    """The words that the shell hands over are joined, wherever options stand between them."""
    assert asked(definition, "grey", "heron", "--limit", "5", "water")["query"] == "grey heron water"
    assert asked(definition, "grey", "heron")["hits"] == asked(definition, "grey heron")["hits"] != []


def test_what_is_being_typed_is_completed(definition: Path) -> None:
    answer = asked(definition, "--complete", "her")
    assert answer == {"query": "her", "completions": [{"text": "Heron", "url": "http://h/heron"}]}
    assert run(definition, "--complete", "her").output == "Heron  http://h/heron\n"
    assert run(definition, "--complete", "her", "--source", "village").output == "Nothing completes 'her'.\n"
    with Searcher.open(definition) as searcher:
        assert [one.text for one in searcher.complete("h", groups=["nature"])] == ["Heron"]
        assert searcher.complete("her", limit=0) == []


def test_a_better_spelling_stands_beside_a_loose_reading(definition: Path) -> None:
    assert asked(definition, "egret strok", "--as-typed")["suggestion"] == "egret stork"
    assert run(definition, "egret strok", "--as-typed").output.startswith(
        sentence("search.looser_and_did_you_mean")
    )


def test_documents_in_the_named_language_score_higher(definition: Path) -> None:
    def scores(*words: str) -> dict[str, float]:
        return {hit["url"]: hit["score"] for hit in asked(definition, "water", *words)["hits"]}

    plain, german = scores(), scores("--language", "de-AT")
    raised = {url: score * (1.5 if url.endswith("pond") else 1) for url, score in plain.items()}
    assert german == pytest.approx(raised, rel=0.01)


def test_marked_terms_are_escaped(definition: Path) -> None:
    (hit,) = asked(definition, "heron", "--where", "Size=90")["hits"]
    assert "grey **heron** waits" in hit["snippet"]
    assert "grey <mark>heron</mark> waits" in hit["snippet_html"]
    assert "&lt;b&gt;<mark>Herons</mark>&lt;/b&gt; &amp; egrets" in hit["snippet_html"]
    with Searcher.open(definition) as searcher:
        (found,) = searcher.search("heron", filters=["Size=90"]).hits
    assert as_html(found.snippet, "<b>", "</b>").startswith("The grey <b>heron</b>")


def test_control_characters_of_a_page_do_not_reach_the_terminal(definition: Path) -> None:
    index = open_index(require(read_definitions(definition)))
    index.apply([bird("evil", "an escape \x1b[31mred", title="Red \x1b]0;title\x07 \x9b1m")])
    try:
        output = run(definition, "escape").output
        assert "Red" in output
        assert not {"\x1b", "\x07", "\x9b"} & set(output)
    finally:
        index.apply([Deletion("birds", "http://h/evil")])
        index.close()


def test_a_searcher_sees_each_commit_as_a_whole_and_its_results_stay(definition: Path) -> None:
    index = open_index(require(read_definitions(definition)))
    with Searcher.open(definition) as searcher:
        before: SearchResult = searcher.search("")
        added = [bird(f"new{number}", "another") for number in range(5)]
        index.apply(added)
        assert [hit.url for hit in before.hits if "new" in hit.url] == []
        assert searcher.count("") == before.total + 5
        index.apply([Deletion("birds", one.url) for one in added])
        assert searcher.count("") == before.total
    index.close()


class Expanding(Searcher):
    """Takes `bird` for any of the birds."""

    def expanded(self, text: str) -> str:
        return text.replace("bird", "(heron OR stork)")


def test_ultra_search_16_the_expansion_of_user_text_can_be_replaced(definition: Path) -> None:
    with Expanding.open(definition) as searcher:
        assert searcher.count("bird Size:>0") == 3
