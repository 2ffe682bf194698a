"""The `search` section of a definition file, and factors of one search, change what is found and what comes first."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.in_process import InProcessWorkspace
from support.named import named
from support.project import Ended
from support.sentences import sentence

from ultracrawl.errors import UserError
from ultracrawl.index import IndexDocument, Reading
from ultracrawl.index.project_index import open_index
from ultracrawl.index.searching import Searcher
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions

DOCUMENTS = [
    IndexDocument("wiki", "http://h/car", "Cars", "A car on the road", {"Language": ["en"]}),
    IndexDocument("wiki", "http://h/auto", "Automobiles", "Automobiles everywhere", {"Language": ["en"]}),
    IndexDocument("wiki", "http://h/motor", "Engines", "the motor car of old", {"Language": ["en"]}),
    IndexDocument("news", "http://h/kube", "Clusters", "kubernetes runs it", {"Language": ["de"]}),
    IndexDocument("news", "http://h/k8s", "Short", "k8s runs it", {"Language": ["en"]}),
    IndexDocument("news", "http://h/secret", "Secret", "the road to nowhere", acl=("staff",)),
]


@pytest.fixture(params=["whoosh", "tantivy"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write(tmp_path, engine=request.param)
    index = open_index(require(read_definitions(tmp_path / "ultracrawl.yaml")))
    index.apply(DOCUMENTS)
    index.close()
    return tmp_path


def write(folder: Path, engine: str = "", **search: Any) -> None:
    file = folder / "ultracrawl.yaml"
    engine = engine or str(yaml.safe_load(file.read_text())["index"]["engine"])
    sources = {name: {"start_urls": ["http://h/"]} for name in ("wiki", "news")}
    written = {"index": {"path": "index", "engine": engine}, "sources": sources, "search": search}
    file.write_text(yaml.safe_dump(written))


def found(folder: Path, text: str, **options: Any) -> list[str]:
    who = {"principals": options.pop("principals")} if "principals" in options else {}
    with Searcher(folder / "ultracrawl.yaml", **who) as searcher:
        return [hit.url.removeprefix("http://h/") for hit in searcher.search(text, **options).hits]


def run(folder: Path, *words: str) -> Ended:
    return InProcessWorkspace(folder).command(*words)


def test_synonyms_stand_for_each_other_or_one_way(folder: Path) -> None:
    assert set(found(folder, "car")) == {"car", "motor"}
    (folder / "s.txt").write_text("# what we say\ncar, automobile, motor car\n\nk8s => kubernetes\n")
    write(folder, synonyms="s.txt")
    assert found(folder, "car")[0] == "car"
    assert set(found(folder, "car")) == {"car", "auto", "motor"}
    assert set(found(folder, "Automobile")) == {"car", "auto", "motor"}
    assert set(found(folder, "motor car")) == {"car", "auto", "motor"}
    assert set(found(folder, "motor")) == {"motor"}
    assert set(found(folder, '"car"')) == {"car", "motor"}
    assert set(found(folder, "k8s")) == {"k8s", "kube"}
    assert set(found(folder, "kubernetes")) == {"kube"}
    assert set(found(folder, "+k8s -short")) == {"kube"}
    assert set(found(folder, "k8s OR nowhere", principals=["staff"])) == {"k8s", "kube", "secret"}


def test_synonyms_of_a_source_hold_in_its_documents(folder: Path) -> None:
    (folder / "s.txt").write_text("thing => car, kubernetes\n")
    write(folder, source_synonyms={"news": "s.txt"})
    assert found(folder, "thing") == ["kube"]
    write(folder, source_synonyms={"wiki": "s.txt", "news": "s.txt"})
    assert set(found(folder, "thing")) == {"kube", "car", "motor"}


def test_pinned_urls_come_first_for_their_query(folder: Path) -> None:
    assert found(folder, "road") == ["car"]
    pins = [
        {"query": "the Röad!", "urls": ["http://h/kube", "http://h/secret", "http://h/gone", "http://h/auto"]}
    ]
    write(folder, pins=pins)
    assert found(folder, "THE road") == ["kube", "auto", "car"]
    assert found(folder, "THE road", principals=["staff"])[:3] == ["kube", "secret", "auto"]
    assert found(folder, "road") == ["car"]
    assert found(folder, "the road", sources=["wiki"]) == ["auto", "car"]
    assert found(folder, "the road", filters=["Language=en"]) == ["auto", "car"]
    assert found(folder, "the road", sort="Title") == ["car"]
    assert found(folder, "the road", limit=1, offset=1) == ["auto"]


def test_a_pinned_url_leaves_the_others_as_they_would_be(folder: Path) -> None:
    write(folder, pins=[{"query": "road unicorn", "urls": "http://h/kube"}])
    with Searcher(folder / "ultracrawl.yaml") as searcher:
        result = searcher.search("road unicorn")
    assert [hit.url for hit in result.hits] == ["http://h/kube", "http://h/car"]
    assert (result.reading, result.total) == (Reading.ANY_WORD, 2)


def test_the_language_of_the_section_is_preferred_where_nothing_else_tells(folder: Path) -> None:
    both = "runs it"
    write(folder, language="de")
    assert found(folder, "+runs") == ["kube", "k8s"]
    write(folder, language="en")
    assert found(folder, "+runs") == ["k8s", "kube"]
    assert found(folder, "+runs", language="de") == ["kube", "k8s"]
    write(folder, language="de")
    assert found(folder, f"what {both}")[0] == "k8s", "the words of the query tell"


def test_factors_of_one_search(folder: Path) -> None:
    assert found(folder, "runs", boosts={"http://h/kube": 5})[0] == "kube"
    assert found(folder, "runs", boosts={"http://h/k8*": 5})[0] == "k8s"
    with pytest.raises(UserError, match=sentence("search.factor_1_x_not_number")):
        found(folder, "runs", boosts={"x": -1})
    for name in ("kube", "k8s"):
        words = ["search", "runs", "--json", "--boost", f"http://h/{name}*=5"]
        assert run(folder, *words).json["hits"][0]["url"] == f"http://h/{name}"
    for wrong, said in (("http://h/", "http://h/"), ("u=nan", "nan")):
        ended = run(folder, "search", "runs", "--boost", wrong)
        assert (ended.code, said in ended.err, ended.err.count("\n")) == (2, True, 1)


def test_the_weights_of_the_section_hold_in_searches(folder: Path) -> None:
    index = open_index(require(read_definitions(folder / "ultracrawl.yaml")))
    old, new = ({"LastModifiedDate": [datetime(year, 1, 1, tzinfo=UTC)]} for year in (2001, 2026))
    index.apply(
        [
            IndexDocument("wiki", "http://h/old", "Owls", "an owl", old, depth=1),
            IndexDocument("wiki", "http://h/new", "Owls", "an owl", new, depth=5),
        ]
    )
    index.close()
    assert found(folder, "owl") == ["old", "new"]
    write(folder, weights={"freshness": 5})
    assert found(folder, "owl") == ["new", "old"]
    write(folder, weights={"title": -1, "titel": 2})
    assert len(findings(folder)) == 2


MISTAKES = [
    ("car", "is a single word"),
    ("car, car", "is a single word"),
    ("a => b => c", "has `=>` twice"),
    ("car,, auto", sentence("search.entry_without_letter_digit")),
    ("=> auto", sentence("search.entry_without_letter_digit")),
    ("a, " + "b" * 101, sentence("search.entry_more_than_100_characters")),
    (", ".join(map(str, range(21))), "has more than 20 entries"),
]


def findings(folder: Path) -> list[str]:
    return [str(one) for one in read_definitions(folder / "ultracrawl.yaml").findings]


@pytest.mark.parametrize(("line", "problem"), MISTAKES, ids=[problem for _, problem in MISTAKES])
def test_a_mistake_in_synonyms_is_reported_with_file_and_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    write(tmp_path, "whoosh", synonyms="s.txt")
    (tmp_path / "s.txt").write_text(f"# said\ncar, auto\n{line}\n")
    (said,) = findings(tmp_path)
    assert said.startswith(f"{tmp_path / 's.txt'}:3 - synonyms - ")
    assert problem in said
    with pytest.raises(UserError, match=re.escape(f"{tmp_path / 's.txt'}:3")):
        Searcher(tmp_path / "ultracrawl.yaml")


def test_mistakes_in_the_section_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "whoosh", synonyms="none.txt", pins=[{"query": "...", "urls": []}])
    told = [set(named(one)) & {"none.txt", "..."} for one in findings(tmp_path)]
    assert [one for one in told if one] == [{"..."}, {"none.txt"}]
    write(tmp_path, "whoosh", source_synonyms={"wikki": "s.txt"})
    (tmp_path / "s.txt").write_text("a, b\n")
    assert named(findings(tmp_path)[0])[-2:] == ["wikki", "wiki"]


def load(folder: Path, xml: str) -> Ended:
    (folder / "boosts.xml").write_text(xml)
    return run(folder, "load-metadata", "--type", "boost", "boosts.xml")


def test_boosts_that_are_loaded_hold_from_the_next_search_on(folder: Path) -> None:
    assert found(folder, "car") == ["car", "motor"]
    ended = load(folder, '<boosts><boost url="http://h/mot*" factor="50"/></boosts>')
    assert (ended.code, ended.out) == (0, "1 factor, 0 queries\n")
    assert found(folder, "car") == ["motor", "car"]
    assert run(folder, "search", "car", "--json").json["hits"][0]["url"] == "http://h/motor"
    load(folder, '<boosts><boost url="http://h/kube" query="Cár"/></boosts>')
    assert found(folder, "car") == ["kube", "car", "motor"]
    assert run(folder, "search", "car", "--json").json["hits"][0]["url"] == "http://h/kube"


def test_what_the_definition_says_of_a_url_wins_over_a_loaded_boost(folder: Path) -> None:
    load(folder, '<boosts><boost url="http://h/motor" factor="50"/></boosts>')
    file = folder / "ultracrawl.yaml"
    written = yaml.safe_load(file.read_text())
    written["index"]["boosts"] = {"http://h/motor": 1}
    file.write_text(yaml.safe_dump(written))
    assert found(folder, "car") == ["car", "motor"]


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        ("<boosts/>", sentence("search.file_no_boost")),
        ('<boosts><boost factor="2"/></boosts>', sentence("search.boost_no_url_after_beginning")),
        (
            '<boosts><boost url="u" factor="many"/></boosts>',
            "the factor `many` of the boost of u is no number",
        ),
        ('<boosts><boost url="u" factor="-1"/></boosts>', sentence("search.factor_1_boost_u_no")),
        ('<boosts><boost url="u"/></boosts>', sentence("search.boost_u_needs_factor_query")),
        ('<boosts><boost url="u" factor="2" query="q"/></boosts>', "the boost of u needs a `factor`, or"),
        ("<boosts><bost/></boosts>", "<bost> is unknown"),
        ("<boosts>", sentence("search.file_broken_after_beginning")),
        ('<!DOCTYPE a [<!ENTITY b "c">]><boosts/>', "it is not read"),
    ],
)
def test_a_file_of_boosts_counts_as_a_whole_or_not_at_all(folder: Path, xml: str, told: str) -> None:
    load(folder, '<boosts><boost url="http://h/motor" factor="50"/></boosts>')
    ended = load(folder, xml)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert len(ended.err.splitlines()) == 1
    assert found(folder, "car") == ["motor", "car"]


def test_attributes_and_groups_have_names_by_language(folder: Path) -> None:
    write(folder, attribute_names={"Language": {"de": "Sprache", "en": "Language"}})
    german = run(folder, "search", "car", "--facet", "Language", "--language", "de")
    assert "Sprache: en (2)" in german.out
    assert "Language: en (2)" in run(folder, "search", "car", "--facet", "Language").out
    told = run(folder, "search", "car", "--language", "de", "--json").json
    assert told["attribute_names"] == {"Language": "Sprache"}
    with Searcher(folder / "ultracrawl.yaml") as searcher:
        assert searcher.attribute_name("Language", "de-AT") == "Sprache"
        assert searcher.attribute_name("Author", "de") == "Author"


def test_names_of_what_does_not_exist_are_mistakes(tmp_path: Path) -> None:
    sources = {"wiki": {"start_urls": ["http://h/"], "groups": ["staff"]}}
    names = {"attribute_names": {"Autor": {"de": "x"}}, "group_names": {"staf": "y", "staff": "Us"}}
    (tmp_path / "ultracrawl.yaml").write_text(yaml.safe_dump({"sources": sources, "search": names}))
    found = read_definitions(tmp_path / "ultracrawl.yaml").findings
    assert [(one.key, named(one.problem)) for one in found] == [
        ("search.attribute_names.Autor", ["Autor"]),
        ("search.group_names.staf", ["staf"]),
    ]
