"""The engine `opensearch`: how many requests it sends, what it does when servers refuse, and what it leaves behind."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from index.conftest import ATTRIBUTES, LIBRARY, document
from support.opensearch import Open, Options, behind, send
from support.project import LOOPBACK, Workspace
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.errors import IndexStoreError, UserError
from ultracrawl.index import Deletion, FacetValue, IndexEngine, NewAnchors, SearchBudget, SearchQuery
from ultracrawl.index.engine import Json, Reading
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.opensearch import OpenSearchIndex
from ultracrawl.index.opensearch import aliases as aliases_module
from ultracrawl.index.opensearch import opensearch_index as engine_module
from ultracrawl.index.opensearch.aliases import Alias
from ultracrawl.index.opensearch.filling import Filling
from ultracrawl.index.opensearch.server import Servers, StatusError
from ultracrawl.index.project_index import index_config
from ultracrawl.index.searching import Searcher
from ultracrawl.model import DefinitionError
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.sources import Project, load_project, require

pytestmark = pytest.mark.servers

EARLIER, LATER = (1 << 32) + 5, 2 << 32
"""Versions of changes."""
JSON = (("Content-Type", "application/json"),)


def titles(index: IndexEngine, text: str = "", **further: Any) -> list[str]:
    return [hit.title for hit in index.search(SearchQuery(text, limit=20, **further)).hits]


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were asked, since the list was cleared."""
    asked: list[str] = []
    ask = Servers.ask

    def noted(servers: Servers, method: str, path: str, *rest: Any, **parameters: Any) -> Any:
        asked.append(path.rpartition("/")[2])
        return ask(servers, method, path, *rest, **parameters)

    monkeypatch.setattr(Servers, "ask", noted)
    return asked


@pytest.mark.parametrize(
    ("query", "most"),
    [
        (SearchQuery("grey heron"), 2),
        (SearchQuery('"the grey heron" waits', facets=("Author", "Size"), count_sources=True), 2),
        (SearchQuery("heron", boosts=(("/her*", 2.0),), principals=("ann",)), 2),
        (SearchQuery("heronn egret"), 9),
    ],
    ids=["words", "facets", "boosts", "misspelt"],
)
def test_a_query_takes_few_requests(opened: Open, requests: list[str], query: SearchQuery, most: int) -> None:
    index = opened()
    index.apply(LIBRARY)
    requests.clear()
    index.search(query)
    assert requests == ["_search"] * len(requests)
    assert len(requests) <= most


def test_a_query_that_is_read_again_asks_for_no_frequency_twice(opened: Open, requests: list[str]) -> None:
    index = opened()
    index.apply(LIBRARY)
    query = SearchQuery("which grey heron builds a tower", suggest=False, budget=SearchBudget())
    requests.clear()
    readings = []
    for reading in (Reading.ALL_WORDS, Reading.MOST_WORDS, Reading.ANY_WORD):
        readings.append(index.search(replace(query, reading=reading)).total)
    assert (readings[0], len(requests)) == (0, 4)
    assert readings[-1] > 0


def test_a_searcher_asks_no_more_than_its_engine(
    options: Options, opened: Open, requests: list[str], tmp_path: Path
) -> None:
    opened({}).apply(LIBRARY)
    index: Json = {"engine": "opensearch", **options}
    sources = {name: {"start_urls": ["http://127.0.0.1/"]} for name in ("s", "t")}
    (tmp_path / "ultracrawl.yaml").write_text(json.dumps({"index": index, "sources": sources}))
    with Searcher(tmp_path / "ultracrawl.yaml") as searcher:
        searcher.search("heron")  # it learns what is behind the alias, sources and languages
        requests.clear()
        assert searcher.search("grey egret").total == 2
    assert requests == ["_search"] * 2


def test_a_language_that_comes_later_is_stemmed(opened: Open) -> None:
    index = opened()
    index.apply([document("/en", "the tables of herons", Language=["en"])])
    assert len(index.search(SearchQuery("table")).hits) == 1
    opened().apply([document("/de", "die Häuser der Reiher", "Reiher", Language=["de"])])
    assert titles(index, "haus") == ["Reiher"]


def test_a_misspelt_word_is_corrected(opened: Open) -> None:
    index = opened()
    index.apply(LIBRARY)
    assert index.search(SearchQuery("heronn")).suggestion == "heron"


def test_many_results_are_read_in_parts(opened: Open) -> None:
    index = opened()
    index.apply([document(f"/{number:03}", "heron", f"title {number:03}") for number in range(400)])
    result = index.search(SearchQuery("heron", sort="Title", limit=350, offset=30))
    assert [hit.title for hit in result.hits] == [f"title {number:03}" for number in range(30, 380)]


def test_a_new_attribute_fills_a_new_index_and_leaves_no_other(opened: Open, options: Options) -> None:
    first = opened()
    first.apply(LIBRARY)
    (before,) = behind(options)
    second = opened({**ATTRIBUTES, "Colour": SearchAttribute("Colour")})
    second.apply([document("/new", "a white heron", "White", Colour=["white"])])
    (after,) = behind(options)
    assert after != before
    assert second.count() == len(LIBRARY) + 1
    assert titles(second, "heron", where=(("Colour", "white"),)) == ["White"]
    assert first.count() == len(LIBRARY) + 1, "who had it open follows the alias"


def test_who_has_an_index_open_searches_the_one_that_took_its_place(opened: Open) -> None:
    first = opened({**ATTRIBUTES, "Colour": SearchAttribute("Colour")})
    opened().apply(LIBRARY)
    red = SearchQuery("heron", where=(("Colour", "red"),), facets=("Colour",))
    assert first.search(red).total == 0, "there is no such field"
    second = opened({**ATTRIBUTES, "Colour": SearchAttribute("Colour")})
    second.apply([document("/new", "a red heron", "Red", Colour=["red"])])
    found = first.search(red)
    assert ([hit.title for hit in found.hits], found.facets["Colour"]) == (["Red"], (FacetValue("red", 1),))
    second.clear()
    assert titles(first) == []
    second.apply(LIBRARY)
    assert titles(first, "egret") == titles(second, "egret") != []


def test_an_index_that_is_deleted_and_made_again_is_found(opened: Open, options: Options) -> None:
    first = opened()
    first.apply(LIBRARY)
    assert titles(first, "egret")
    assert send("DELETE", f"{options['url']}/{behind(options)[0]}") is not None
    assert titles(first, "egret") == []
    opened().apply(LIBRARY)
    assert titles(first, "egret")


def test_sources_of_other_processes_are_known_soon(opened: Open) -> None:
    now = [0.0]
    first = opened()
    first._servers._clock = lambda: now[0]
    first.apply([document("/a")])
    assert first.sources() == ("s",)
    opened().apply([document("/b", source="t")])
    now[0] += 6
    assert first.sources() == ("s", "t")
    first.apply([Deletion("s", "/a")])
    assert first.sources() == ("t",)


@pytest.mark.parametrize("versions", [(0, 0, 0), (EARLIER, LATER, LATER + 1)], ids=["", "versions"])
def test_who_writes_while_an_index_is_rebuilt_does_not_wait_and_loses_nothing(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch, versions: tuple[int, int, int]
) -> None:
    index, other = opened(), opened()
    index.apply_version(LIBRARY, versions[0])
    copy, catch_up = Filling.copy, Filling.catch_up
    new = [document("/late", "late"), document("/crane", "a bird now", "Changed"), Deletion("s", "/egret")]

    def copied(self: Filling) -> None:
        other.apply_version([document("/early", "early")], versions[1])
        copy(self)
        assert other.apply_version(new, versions[2]) == 2
        assert titles(other, "egret") == ["Herons"]

    waiting: list[threading.Thread] = []

    def caught_up(self: Filling) -> int:
        last = opened()
        waiting.append(
            threading.Thread(target=last.apply_version, args=[[Deletion("t", "/other")], LATER + 2])
        )
        waiting[0].start()
        return catch_up(self)

    monkeypatch.setattr(Filling, "copy", copied)
    monkeypatch.setattr(Filling, "catch_up", caught_up)
    assert index.rebuild() == len(LIBRARY) + 1
    waiting[0].join(60)
    expected = {(one.source, one.url) for one in LIBRARY} - {("s", "/egret"), ("t", "/other")}
    assert set(index.urls()) == expected | {("s", "/late"), ("s", "/early")}
    assert titles(other, "bird") == ["Changed"]
    assert (len(behind(options)), index.check()) == (1, [])
    assert other.apply([document("/more", "more")]) == 1


def test_a_rebuild_that_was_killed_at_its_end_is_begun_anew(opened: Open, options: Options) -> None:
    index = opened()
    index.apply(LIBRARY)
    (name,) = behind(options)
    assert send("PUT", f"{options['url']}/{name}/_block/write") is not None
    index._servers._sleep, index._servers._clock = lambda _: None, iter(range(0, 10**6, 20)).__next__
    with pytest.raises(IndexStoreError) as raised:
        index.apply([document("/more", "more")])
    assert "index rebuild" in str(raised.value)
    assert index.rebuild() == len(LIBRARY)
    assert index.apply([document("/more", "more")]) == 1


def test_a_rebuild_that_fails_leaves_the_index_as_it_was(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened()
    index.apply(LIBRARY)
    before = behind(options)

    def fail(*_: Any) -> int:
        raise IndexStoreError("no")

    with monkeypatch.context() as patched:
        patched.setattr(Filling, "catch_up", fail)
        with pytest.raises(IndexStoreError):
            index.rebuild()
    assert behind(options) == before
    assert index.apply([document("/more", "more")]) == 1


def test_an_older_schema_is_brought_up_to_date(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened()
    index.apply(LIBRARY)
    assert not index.bring_up_to_date()
    monkeypatch.setattr(aliases_module, "SCHEMA_VERSION", 99)
    assert index.bring_up_to_date()
    assert index.count() == len(LIBRARY)


def test_an_index_of_others_is_refused(opened: Open, options: Options) -> None:
    assert send("PUT", f"{options['url']}/{options['name']}-theirs") is not None
    body: Json = {"actions": [{"add": {"index": f"{options['name']}-theirs", "alias": options["name"]}}]}
    assert send("POST", f"{options['url']}/_aliases", body) is not None
    for act in (lambda index: index.apply(LIBRARY), titles, OpenSearchIndex.clear):
        with pytest.raises(UserError):
            act(opened())
    assert behind(options) == [f"{options['name']}-theirs"]


def test_what_one_document_has_wrong_holds_up_no_other(
    opened: Open, options: Options, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened()
    index.apply(LIBRARY[:1])
    lines = engine_module.bulk_lines

    def spoilt(name: str, rows: Any) -> list[bytes]:
        return [line.replace(b'"value_Size": [3', b'"value_Size": ["x", 3') for line in lines(name, rows)]

    monkeypatch.setattr(engine_module, "bulk_lines", spoilt)
    index.apply([document("/odd", "odd heron", Size=[3]), document("/good", "good heron")])
    assert ("s", "/good") in index.urls()
    assert ("s", "/odd") not in index.urls()
    assert [one.levelname for one in caplog.records] == ["WARNING"]


def test_a_full_disk_keeps_the_batch_and_goes_by(opened: Open, options: Options) -> None:
    index = opened()
    index.apply(LIBRARY)
    pauses: list[float] = []
    index._servers._sleep = pauses.append
    (name,) = behind(options)
    set_block(options, name, value=True)
    for change in (Deletion("s", "/heron"), document("/more", "more")):
        with pytest.raises(IndexStoreError) as raised:
            index.apply([change])
        assert all(word in str(raised.value) for word in (name, "read-only", "disk", "GB"))
    assert pauses == [], "who feeds it waits, and tries again"
    assert [problem for problem in index.check() if "read_only_allow_delete" in problem]
    set_block(options, name, value=None)
    index.apply([Deletion("s", "/heron"), NewAnchors("s", "/egret", ("white bird",))])
    assert ("s", "/heron") not in index.urls()
    assert titles(index, "bird") == ["Egrets"]


def test_what_comes_late_changes_nothing(opened: Open) -> None:
    index, late = opened(), opened()
    index.apply_version([document("/kept", "new heron", "New"), document("/gone", "egret")], LATER)
    index.apply_version([Deletion("s", "/gone")], LATER + 1)
    changes = [
        document("/kept", "old", "Old"),
        document("/gone", "old", "Old"),
        document("/more", "old", "More"),
    ]
    assert late.apply_version(changes, EARLIER) == 3, "who comes late does not send it again"
    assert late.apply_version([Deletion("s", "/kept"), NewAnchors("s", "/kept", ("bird",))], EARLIER) == 0
    assert sorted(titles(index)) == ["More", "New"]
    assert titles(index, "bird") == []


def test_a_repeated_batch_changes_nothing(opened: Open) -> None:
    index = opened()
    for _ in range(2):
        index.apply_version([document("/a", "heron", "A"), Deletion("s", "/b")], LATER)
    assert titles(index) == ["A"]


def test_a_new_index_keeps_the_versions(opened: Open) -> None:
    index = opened()
    index.apply_version([document("/a", "heron", "New")], LATER)
    index.rebuild()
    index.apply_version([document("/a", "heron", "Old")], EARLIER)
    assert titles(index) == ["New"]


def test_deletions_are_known_for_an_hour(opened: Open, options: Options) -> None:
    opened().apply(LIBRARY)
    (name,) = behind(options)
    found = send("GET", f"{options['url']}/{name}/_settings?flat_settings=true")
    assert isinstance(found, dict)
    assert found[name]["settings"]["index.gc_deletes"] == "1h"


def set_block(options: Options, name: str, *, value: bool | None) -> None:
    body: Json = {"index.blocks.read_only_allow_delete": value}
    assert send("PUT", f"{options['url']}/{name}/_settings", body) is not None


def test_a_server_that_is_not_there_is_one_line_without_the_password(tmp_path: Path) -> None:
    given: Options = {"url": "http://127.0.0.1:9", "user": "u", "password": "geheim"}
    index = open_index(IndexConfig("opensearch", tmp_path, (), given))
    with pytest.raises(IndexStoreError) as raised:
        index.count()
    assert "127.0.0.1:9" in str(raised.value)
    assert "geheim" not in str(raised.value)
    index.close()


class Answers:
    """Servers that give the answers of a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bulks: list[Any] = []
        self.sent: list[int] = []
        self.version: Mapping[str, str] = {"distribution": "opensearch", "number": "2.19.1"}
        self.pauses: list[float] = []
        monkeypatch.setattr(Servers, "ask", lambda servers, *words, **_: self.answer(*words))

    def answer(self, method: str, path: str, body: Any = None) -> Any:
        if path == "/":
            return {"version": self.version}
        self.sent.append(body.count("\n") // 2)
        given = self.bulks.pop(0)
        if isinstance(given, int):
            raise StatusError("busy", given)
        return {"items": [{"index": {"status": status}} for status in given]}

    def servers(self) -> Servers:
        time = iter(range(10**6)).__next__
        return Servers({"url": "http://127.0.0.1:9"}, clock=time, sleep=self.pauses.append)


def test_what_a_busy_server_refuses_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers(monkeypatch)
    answers.bulks = [503, [201, 429, 201], [429], [201]]
    answers.servers().write([b"{}\n{}\n"] * 3)
    assert answers.sent == [3, 3, 1, 1]
    assert answers.pauses == sorted(answers.pauses)
    assert len(set(answers.pauses)) == 3, "the pauses grow"


def test_what_is_refused_for_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers(monkeypatch)
    answers.bulks = [[429]] * 1000
    with pytest.raises(IndexStoreError):
        answers.servers().write([b"{}\n{}\n"])
    assert answers.bulks, "it gave up"


@pytest.fixture
def busy() -> Iterator[tuple[OpenSearchIndex, list[int], list[float]]]:
    """An index, the status codes of its next searches, and the pauses between them."""
    statuses: list[int] = []
    pauses: list[float] = []
    now = [0.0]

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    def searched(request: Request) -> Reply:
        if statuses:
            return Reply(statuses.pop(0), (("Retry-After", "2"),) * (not pauses), b'{"error": "busy"}')
        found: Json = {"hits": {"total": {"value": 0}, "hits": []}}
        return Reply(200, JSON, json.dumps(found).encode())

    behind: Json = {"birds-1": {"mappings": {"_meta": {"ultracrawl": {"schema": 1, "attributes": {}}}}}}
    site = Site()
    site.respond("/", headers=JSON, body=b'{"version": {"distribution": "opensearch", "number": "3.0.0"}}')
    site.respond("/birds/_mapping", headers=JSON, body=json.dumps(behind).encode())
    site.dynamic("/birds/_search*", searched)
    with site.serve() as url:
        index = OpenSearchIndex(Path(), {}, {"url": url, "name": "birds"})
        index._servers._clock, index._servers._sleep = lambda: now[0], wait
        yield index, statuses, pauses
        index.close()


def test_a_busy_server_is_asked_again_when_it_wants(
    busy: tuple[OpenSearchIndex, list[int], list[float]],
) -> None:
    index, statuses, pauses = busy
    statuses += [503, 429, 503]
    assert index.search(SearchQuery("")).total == 0
    assert pauses[0] == 2, "as the server says"
    assert pauses[1:] == sorted(set(pauses[1:])), "the pauses grow"


def test_a_server_that_stays_busy_is_an_error_in_time(
    busy: tuple[OpenSearchIndex, list[int], list[float]],
) -> None:
    index, statuses, pauses = busy
    statuses += [503] * 100
    with pytest.raises(IndexStoreError):
        index.search(SearchQuery(""))
    assert 4 < sum(pauses) <= 5
    pauses.clear()
    statuses[:] = [400]
    with pytest.raises(IndexStoreError):
        index.search(SearchQuery(""))
    assert pauses == [], "it would be refused again"


@pytest.mark.parametrize(
    ("version", "named"),
    [
        ({"number": "8.15.0"}, "Elasticsearch 8.15.0"),
        ({"distribution": "opensearch", "number": "1.3.9"}, "opensearch 1.3.9"),
        ({"distribution": "opensearch", "number": "next"}, "without version"),
        ({}, "without version"),
        (None, "without version"),
        ("3.8.0", "without version"),
        ({"distribution": "opensearch", "number": "2.19.0"}, ""),
        ({"distribution": "opensearch", "number": "3.8.0"}, ""),
    ],
)
def test_other_servers_are_refused_by_name(
    version: object, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = Servers({"url": "http://127.0.0.1:9"})
    monkeypatch.setattr(Servers, "_answer", lambda *_, **__: {"version": version})
    if named:
        with pytest.raises(UserError) as raised:
            servers.ask("GET", "/_cat")
        assert named in str(raised.value)
    else:
        servers.ask("GET", "/_cat")


def test_a_crawl_into_elasticsearch_is_refused_before_a_page_is_asked_for(
    url: str, site: Site, tmp_path: Path
) -> None:
    site.page("/", title="Heron", text="the grey heron")
    server = Site()
    server.file("/", b'{"version": {"number": "8.15.0"}}', "application/json")
    workspace = Workspace(tmp_path)
    source = {"start_urls": [url], "boundary": LOOPBACK}
    with server.serve() as address:
        place = {"engine": "opensearch", "url": address}
        workspace.write({"index": place, "sources": {"birds": source}})
        ended = workspace.command("crawl", "birds")
    assert ended.code == 2
    assert "Elasticsearch 8.15.0" in ended.err
    assert site.requests == []


@pytest.mark.parametrize("kind", ["_index_template", "_template"])
def test_a_template_of_others_is_refused(opened: Open, options: Options, kind: str) -> None:
    template = f"{options['url']}/{kind}/of-{options['name']}"
    body: dict[str, Json] = {"index_patterns": [f"{options['name']}*"]}
    assert send("PUT", template, body) is not None
    try:
        with pytest.raises(UserError) as raised:
            opened().apply(LIBRARY)
        assert f"of-{options['name']}" in str(raised.value)
        assert behind(options) == []
    finally:
        send("DELETE", template)
    assert opened().apply(LIBRARY[:1]) == 1


def project_of(folder: Path, **top: object) -> Project:
    sources = {"sources": {"birds": {"start_urls": ["http://birds.example/"]}}}
    (folder / "ultracrawl.yaml").write_text(yaml.safe_dump({**top, **sources}))
    return require(load_project(folder / "ultracrawl.yaml"))


def test_the_definition_names_servers_beside_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PW", "geheim")
    given = {"url": "http://127.0.0.1:9/", "name": "birds", "replicas": 0, "user": "u", "password": "${PW}"}
    project = project_of(
        tmp_path,
        index={"engine": "opensearch", **given, "ca": "ca.pem"},
        indexes={"more": {"engine": "opensearch", "url": ["http://127.0.0.1:9", "http://127.0.0.1:10"]}},
    )
    config = index_config(project)
    assert config.secrets == {"password": "geheim"}
    assert config.options == {
        "url": ["http://127.0.0.1:9"], "name": "birds", "shards": 1, "replicas": 0, "user": "u",
        "ca": str(tmp_path / "ca.pem"), "auth": "basic", "region": None, "timeout": 60.0, "retry": 60.0,
    }  # fmt: skip
    assert json.loads(config.to_json()).keys() == {"engine", "path", "attributes", "has_options"}
    assert index_config(project, "more").options["name"] == "ultracrawl"


def test_a_key_is_sent_with_every_request_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "geheim")
    server = Site()
    server.file("/", b'{"version": {"number": "3.8.0", "distribution": "opensearch"}}', "application/json")
    with server.serve() as address:
        given = {"engine": "opensearch", "url": address, "key": "${KEY}"}
        config = index_config(project_of(tmp_path, index=given))
        assert config.secrets == {"key": "geheim"}
        assert "geheim" not in config.to_json()
        with closing(open_index(config)) as index, pytest.raises(IndexStoreError) as raised:
            index.apply(LIBRARY)
    assert "geheim" not in str(raised.value)
    assert server.requests
    sent = [{name.lower(): value for name, value in one.headers.items()} for one in server.requests]
    assert {one.get("authorization") for one in sent} == {"ApiKey geheim"}


@pytest.mark.parametrize(
    ("index", "key"),
    [
        ({"engine": "opensearch", "url": "http://127.0.0.1:9", "key": "k", "user": "u"}, "index"),
        ({"engine": "opensearch", "url": "http://127.0.0.1:9", "key": "k", "auth": "aws"}, "index"),
        ({"engine": "opensearch", "url": "http://127.0.0.1:9", "user": "u", "auth": "aws"}, "index"),
        ({"engine": "opensearch", "url": "http://127.0.0.1:9", "region": "eu-central-1"}, "index"),
        ({"engine": "opensearch", "url": "http://127.0.0.1:9", "auth": "ntlm"}, "index.auth"),
        ({"engine": "whoosh", "retry": 5}, "index"),
        ({"engine": "opensearch"}, "index"),
        ({"engine": "whoosh", "url": "http://127.0.0.1:9"}, "index"),
        ({"engine": "opensearch", "url": "http://u:p@127.0.0.1:9"}, "index.url"),
        ({"engine": "opensearch", "url": "http://127.0.0.1:9", "name": "Big"}, "index.name"),
        ({"engine": "opensearch", "url": "http://127.0.0.1:9", "options": {"a": 1}}, "index"),
        ({"engine": "opensearch", "url": "http://127.0.0.1:9", "collection": "docs"}, "index.collection"),
    ],
)
def test_mistakes_in_the_definition_have_their_place(tmp_path: Path, index: Any, key: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        project_of(tmp_path, index=index)
    assert [one.key for one in raised.value.findings] == [key]


@pytest.mark.parametrize(
    ("destination", "is_mistake"),
    [
        ({"type": "opensearch", "url": "http://127.0.0.1:9", "collection": "birds"}, True),
        ({"type": "elasticsearch", "url": "http://127.0.0.1:9/", "collection": "birds-2"}, True),
        ({"type": "opensearch", "url": "http://127.0.0.1:9", "collection": "fish"}, False),
        ({"type": "opensearch", "url": "http://127.0.0.1:8", "collection": "birds"}, False),
        ({"type": "opensearch", "url": "http://127.0.0.1:8", "name": "birds"}, True),
    ],
)
def test_an_engine_and_a_destination_are_two_things(
    tmp_path: Path, destination: Any, is_mistake: bool
) -> None:
    index = {"engine": "opensearch", "url": "http://127.0.0.1:9", "name": "birds"}
    top = {"index": index, "destinations": {"box": destination}}
    if not is_mistake:
        assert project_of(tmp_path, **top).destinations
        return
    with pytest.raises(DefinitionError) as raised:
        project_of(tmp_path, **top)
    (finding,) = raised.value.findings
    assert finding.key.startswith("destinations")
    assert "engine" in finding.instead or "index" in finding.instead


def test_a_crawl_a_search_and_the_commands_work_on_it(
    url: str, site: Site, options: Options, tmp_path: Path
) -> None:
    site.page("/", title="Heron", text="the grey heron", links=["/egret"])
    site.page("/egret", title="Egret", text="the white egret")
    workspace = Workspace(tmp_path)
    source = {"start_urls": [url], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    workspace.write({"index": {"engine": "opensearch", **options}, "sources": {"birds": source}})
    first = workspace.crawl().run
    assert (first["outcomes"], first["problems"]) == ({"NEW": 2}, [])
    assert workspace.search("heron") == ["/"]
    site.remove("/egret")
    workspace.crawl("--force")
    assert workspace.indexed() == ["/"]
    for words in (("index", "check"), ("index", "rebuild"), ("index", "optimise"), ("index", "check")):
        ended = workspace.command(*words)
        assert ended.code == 0, ended.err
    facts = workspace.command("index", "info", "--json").json
    assert (facts["engine"], facts["documents"]) == ("opensearch", 1)
    assert workspace.search("heron") == ["/"]


@pytest.fixture
def site() -> Site:
    return Site()


def test_it_is_one_of_several_destinations(url: str, site: Site, options: Options, tmp_path: Path) -> None:
    site.page("/", title="Heron", text="the grey heron", links=["/egret", "/staff"])
    site.page("/egret", title="Egret", text="the white egret")
    site.page("/staff", title="Staff", text="the heron of the staff")
    workspace = Workspace(tmp_path)
    source = {
        "start_urls": [url], "boundary": LOOPBACK, "politeness": {"delay": 0}, "acl": ["staff"],
        "feeding": {"destinations": {"near": {"index": "default", "primary": True}, "far": {"index": "served"}}},
    }  # fmt: skip
    (tmp_path / "words.txt").write_text("bird, heron\n")
    served = {"engine": "opensearch", **options}
    workspace.write(
        {"indexes": {"served": served}, "search": {"synonyms": "words.txt"}, "sources": {"birds": source}}
    )
    workspace.crawl()

    def found(index: str, text: str, principal: str) -> list[str]:
        return workspace.search("--index", index, "--principal", principal, text)

    for text in ("heron", "bird", "egret"):
        assert found("served", text, "staff") == found("default", text, "staff") != []
        assert found("served", text, "guest") == []
    site.remove("/egret")
    workspace.crawl("--force")
    assert found("served", "egret", "staff") == found("default", "egret", "staff") == ["/"]


@pytest.mark.parametrize(
    "text", ["heron", "grey heron", '"grey heron"', '"the grey heron waits"', "heron OR egret"]
)
def test_scores_are_those_of_another_engine(opened: Open, tmp_path: Path, text: str) -> None:
    library = [document(f"/{n}", "a grey heron waits " * (n % 3 + 1) + "word " * n) for n in range(20)]
    found = []
    for index in (
        opened(),
        open_index(IndexConfig("whoosh", tmp_path / "whoosh", tuple(ATTRIBUTES.values()))),
    ):
        index.apply([*LIBRARY, *library])
        found.append({hit.url: hit.score for hit in index.search(SearchQuery(text, limit=50)).hits})
        index.close()
    ours, theirs = found
    assert ours == pytest.approx(theirs, rel=0.1)


def test_three_shards_rank_as_one(options: Options, tmp_path: Path) -> None:
    found = []
    for shards in (1, 3):
        name = f"{options['name']}-{shards}"
        config = IndexConfig("opensearch", tmp_path, tuple(ATTRIBUTES.values()), {**options, "name": name})
        index = open_index(replace(config, options={**config.options, "shards": shards}))
        index.apply(
            [document(f"/{n}", "heron " * (n % 7) + "egret " * (n % 5) + "word " * n) for n in range(60)]
        )
        result = index.search(SearchQuery("heron egret", limit=30))
        found.append((result.total, [hit.url for hit in result.hits]))
        index.close()
    assert found[0] == found[1]


def test_two_that_begin_at_once_make_one_index(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = opened(), opened()
    current = Alias.current
    second.apply(LIBRARY[:1])
    calls = iter([None])
    with monkeypatch.context() as patched:
        patched.setattr(Alias, "current", lambda alias: next(calls, current(alias)))
        assert first.apply(LIBRARY[1:2]) == 1
    assert (len(behind(options)), first.count()) == (1, 2)
