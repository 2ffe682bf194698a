"""Search engines as destinations: what each holds after changes, faults and repetitions is what our index would."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from documentation.pages import blocks
from support.opensearch import node, send
from support.project import ROOT
from support.resource import Reply
from support.search_engines import ENGINES, Engine, Meilisearch, OpenSearch, Typesense, reply
from support.server import Request, answering
from support.solr import CORE, solr_node

from ultracrawl.errors import WorkError
from ultracrawl.index import Deletion, IndexDocument, NewAnchors
from ultracrawl.index.destinations import Batch, Destination
from ultracrawl.index.destinations.engines.records import (
    DOCSEARCH,
    DOCUMENTS,
    SECTIONS,
    document_key,
    records_of,
)
from ultracrawl.model.page import Section
from ultracrawl.system.plugins import DESTINATIONS

from .conftest import document

OPTIONS: dict[str, Any] = {
    "collection": "docs", "documents": 2, "size": 1 << 20, "timeout": 10.0, "retry": 5.0,
    "networks": ["127.0.0.0/8"], "key": "k3y",
}  # fmt: skip
Deliver = Callable[..., int]


@pytest.fixture(params=sorted(ENGINES))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(kind: str) -> Engine:
    return ENGINES[kind]()


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    with answering(engine.answer) as address:
        yield address


def opened(kind: str, url: str, **options: object) -> Destination:
    """Open a destination whose clock only its own pauses move."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    make: Any = DESTINATIONS.load(kind)
    opened: Destination = make("out", {**OPTIONS, "url": url, **options}, clock=lambda: now[0], sleep=sleep)
    return opened


@pytest.fixture
def deliver(kind: str, url: str) -> Iterator[Deliver]:
    with closing(opened(kind, url)) as destination:
        yield lambda *changes, key="1": destination.deliver(Batch(key, list(changes)))


def titles(engine: Engine) -> dict[str, str]:
    if isinstance(engine, OpenSearch):
        engine.records, engine.unseen = engine.records | engine.unseen, {}
    return {one["url"]: one["title"] for one in engine.records.values()}


def test_documents_are_put_replaced_and_deleted(engine: Engine, deliver: Deliver) -> None:
    assert deliver(document("/a", title="A"), document("/b", title="B"), Deletion("s", "/never")) == 2
    assert (
        deliver(document("/a", title="A2"), Deletion("s", "/b"), NewAnchors("s", "/a", ("see",)), key="2")
        == 1
    )
    assert titles(engine) == {"/a": "A2"}


def test_ten_random_runs_with_repetitions_end_like_our_index(engine: Engine, deliver: Deliver) -> None:
    chance, held = random.Random(7), dict[str, str]()
    for run in range(10):
        changes: list[IndexDocument | Deletion] = []
        for url in chance.sample([f"/{number}" for number in range(12)], 6):
            if chance.random() < 0.4:
                changes.append(Deletion("s", url))
                held.pop(url, None)
            else:
                held[url] = f"{url} {run}"
                changes.append(document(url, title=held[url]))
        for _ in range(chance.choice((1, 1, 2))):  # as after a kill: from its beginning
            deliver(*changes, key=str(run))
    assert titles(engine) == held


def test_each_request_has_the_key(engine: Engine, kind: str, deliver: Deliver) -> None:
    deliver(document("/a"))
    name, value = {
        "meilisearch": ("Authorization", "Bearer k3y"), "typesense": ("X-TYPESENSE-API-KEY", "k3y"),
    }.get(kind, ("Authorization", "ApiKey k3y" if "search" in kind else "Bearer k3y"))  # fmt: skip
    assert {request.header(name) for request in engine.came} == {value}


def test_what_passes_is_repeated_and_what_does_not_fails(engine: Engine, deliver: Deliver) -> None:
    busy = [503, 429]
    engine.interfere = lambda _: Reply(busy.pop(), (("Retry-After", "0"),)) if busy else None
    assert deliver(document("/a", title="A")) == 1
    engine.interfere = lambda _: reply(403, {"error": "no"})
    with pytest.raises(WorkError):
        deliver(document("/b", title="B"), key="2")
    engine.interfere = lambda _: None
    assert deliver(document("/b", title="B"), key="2") == 1
    assert titles(engine) == {"/a": "A", "/b": "B"}


PARTS = IndexDocument(
    "s",
    "https://a.example/guide",
    "Guide",
    "Guide\nAll of it.\nSetup\nInstall it.\nProxies\nBehind one.\nUse\nType words.",
    {
        "Author": ["Lee"],
        "LastModifiedDate": [datetime(2024, 5, 1, tzinfo=UTC)],
        "Size": [3.0],
        "RD_Fields": ["language=en", "docusaurus_tag=docs-1.0"],
    },
    acl=("staff",),
    sections=(
        Section(0, 1, "", "Guide"),
        Section(17, 2, "setup", "Setup"),
        Section(35, 3, "proxies", "Proxies"),
        Section(55, 2, "use", "Use"),
    ),
)


def test_records_of_sections_have_the_titles_above_them() -> None:
    records = list(records_of(PARTS, SECTIONS))
    rows = [(one["url"], list(one["hierarchy"].values()), one["content"]) for one in records]  # type: ignore[union-attr]
    address = "https://a.example/guide"
    assert rows == [
        (address, ["Guide"], ""),
        (address, ["Guide"], "All of it."),
        (f"{address}#setup", ["Guide", "Setup"], "Install it."),
        (f"{address}#proxies", ["Guide", "Setup", "Proxies"], "Behind one."),
        (f"{address}#use", ["Guide", "Use"], "Type words."),
    ]
    assert {(one["document"], one["public"], tuple(one["acl"])) for one in records} == {  # type: ignore[arg-type]
        (document_key("s", address), False, ("staff",))
    }
    own = {"Author": ["Lee"], "LastModifiedDate": [1714521600], "Size": [3.0]}
    assert records[0]["attributes"] == {**own, "RD_Fields": PARTS.attributes["RD_Fields"]}


@pytest.mark.parametrize("behind", ["", " ¶", "#", " \u200b"])
def test_a_link_to_a_heading_is_in_no_content(behind: str) -> None:
    text = f"Setup{behind} #1 is this."
    document = IndexDocument("s", "/a", "A", text, sections=(Section(0, 1, "", "Setup"),))
    assert [one["content"] for one in records_of(document, SECTIONS)] == ["", "#1 is this."]


def test_attributes_are_titles_for_levels_without_a_heading() -> None:
    """`lvl0` of the page stands above all; the title of the document only where nothing else does."""
    given = replace(PARTS, attributes={"lvl0": ["Docs", "One"], "lvl2": ["Any"]}, sections=PARTS.sections[1:])
    rows = [one["hierarchy"] for one in records_of(given, SECTIONS)]
    assert rows == [
        {"lvl0": "Docs One", "lvl2": "Any"},
        {"lvl0": "Docs One", "lvl1": "Setup", "lvl2": "Any"},
        {"lvl0": "Docs One", "lvl1": "Setup", "lvl2": "Proxies"},
        {"lvl0": "Docs One", "lvl1": "Use", "lvl2": "Any"},
    ]
    without = replace(given, attributes={})
    assert [one["hierarchy"]["lvl0"] for one in records_of(without, SECTIONS)] == ["Guide"] * 4  # type: ignore[index,call-overload]
    assert [one["hierarchy"]["lvl0"] for one in records_of(without, DOCSEARCH)] == [None] * 8  # type: ignore[index,call-overload]


def test_ids_of_records_stay_while_the_page_does() -> None:
    one, again = (list(records_of(PARTS, DOCSEARCH)) for _ in range(2))
    assert [each["objectID"] for each in one] == [each["objectID"] for each in again]
    assert len({each["objectID"] for each in one}) == len(one) == 8
    least = replace(PARTS, attributes={"min_indexed_level": [7.0]})
    texts = [each["objectID"] for each in records_of(least, DOCSEARCH)]
    assert texts == [each["objectID"] for each in one if each["type"] == "content"]


def test_fields_of_a_record_are_not_replaced_by_attributes_of_a_page() -> None:
    named = replace(
        PARTS, attributes={"RD_Fields": ["url=x", "acl=y", "type=z", "weight=1", "id=2", "own=1"]}
    )
    for record in records_of(named, DOCSEARCH):
        assert str(record["url"]).startswith(PARTS.url)
        assert (record["acl"], record["own"]) == (["staff"], 1)
        assert record["type"] != "z"
        assert record["weight"] != 1


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("en", "en"),
        ("12", 12),
        ("1.5", 1.5),
        ("true", True),
        ('["a", "b"]', ["a", "b"]),
        ("0", "0"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ("202611290000123456", "202611290000123456"),
        ("[" * 9999, "[" * 9999),
        ("null", "null"),
    ],
)
def test_meta_of_scrapers_is_what_it_says_in_json(written: str, value: object) -> None:
    page = replace(PARTS, attributes={"RD_Fields": [f"own={written}"]})
    assert {json.dumps(record["own"]) for record in records_of(page, DOCSEARCH)} == {json.dumps(value)}


@pytest.mark.parametrize(("written", "rank"), [(3.0, 3), (-2.9, -2), (1e300, 10**9), ("high", 0)])
def test_the_rank_of_a_page_is_a_whole_number(written: float | str, rank: int) -> None:
    records = records_of(replace(PARTS, attributes={"page_rank": [written]}), DOCSEARCH)
    assert {record["weight"]["page_rank"] for record in records} == {rank}  # type: ignore[index,call-overload]


def test_a_text_that_may_not_be_shown_is_not_sent() -> None:
    secret = IndexDocument("s", "/a", "A", "hidden words", secret_text=True)
    for form in (DOCUMENTS, SECTIONS, DOCSEARCH):
        assert "hidden" not in json.dumps(list(records_of(secret, form)))


def test_a_document_with_fewer_sections_leaves_no_record_behind(engine: Engine, kind: str, url: str) -> None:
    with closing(opened(kind, f"{url}/", records="sections")) as destination:
        destination.deliver(Batch("1", [PARTS, document("/b", "words", title="B")]))
        assert len(titles(engine)) == 5
        destination.deliver(Batch("2", [document(PARTS.url, "words", title="Guide")]))
        assert set(titles(engine)) == {PARTS.url, "/b"}
        destination.deliver(Batch("3", [Deletion("s", PARTS.url)]))
        assert set(titles(engine)) == {"/b"}
    assert not any("//" in request.path for request in engine.came)


def test_one_that_was_made_by_something_else_is_not_written_to(engine: Engine, deliver: Deliver) -> None:
    if isinstance(engine, OpenSearch):
        engine.mapping = {"properties": {"title": {"type": "text"}}}
    elif isinstance(engine, Typesense):
        engine.exists, engine.fields = True, [{"name": "title"}]
    elif isinstance(engine, Meilisearch):
        engine.interfere = lambda request: (
            reply(200, {"primaryKey": "sku"}) if request.method == "GET" else None
        )
    else:
        engine.interfere = lambda _: reply(404, {})
    with pytest.raises(WorkError):
        deliver(document("/a"))
    assert not engine.records


# ---- of one engine


@pytest.mark.parametrize("kind", ["opensearch"])
def test_items_that_are_refused_are_left_out_and_busy_ones_come_again(
    engine: OpenSearch, deliver: Deliver, caplog: pytest.LogCaptureFixture
) -> None:
    rounds: list[dict[str, int]] = [{"A": 429, "B": 400}]

    def some_fail(request: Request) -> Reply | None:
        if not (request.path.startswith("/_bulk") and rounds):
            return None
        wrong, items = rounds.pop(), []
        rows = request.body.splitlines()
        for record in map(json.loads, rows[1::2]):
            status = wrong.get(record["title"], 201)
            if status == 201:
                engine.unseen[record["id"]] = record
            items.append({"index": {"_id": record["id"], "status": status, "error": {"type": "mapping"}}})
        return reply(200, {"errors": True, "items": items})

    engine.interfere = some_fail
    assert deliver(document("/a", title="A"), document("/b", title="B")) == 2
    assert titles(engine) == {"/a": "A"}
    assert document_key("s", "/b") in caplog.text


@pytest.mark.parametrize("kind", ["meilisearch"])
def test_a_task_that_fails_is_a_delivery_that_fails(engine: Meilisearch, deliver: Deliver) -> None:
    deliver(document("/a", title="A"))
    engine.interfere = lambda request: (
        reply(200, {"status": "failed", "error": {"code": "internal"}}) if "/tasks/" in request.path else None
    )
    with pytest.raises(WorkError):
        deliver(document("/b", title="B"), key="2")
    engine.interfere = lambda _: None
    deliver(document("/b", title="B"), key="2")
    assert titles(engine) == {"/a": "A", "/b": "B"}


@pytest.mark.parametrize("kind", ["typesense"])
def test_a_line_that_is_refused_is_left_out(
    engine: Typesense, deliver: Deliver, caplog: pytest.LogCaptureFixture
) -> None:
    engine.failing["B"] = {"success": False, "code": 400, "error": "no"}
    assert deliver(document("/a", title="A"), document("/b", title="B")) == 2
    assert (titles(engine), document_key("s", "/b") in caplog.text) == ({"/a": "A"}, True)
    engine.failing["C"] = {"success": False, "code": 503, "error": "busy"}
    with pytest.raises(WorkError):
        deliver(document("/c", title="C"), key="2")


# ---- a real one


def query_of_page(engine: str) -> dict[str, Any]:
    """Return the query that the documentation shows for an engine."""
    (text,) = blocks(ROOT / "docs" / "search-engines" / f"{engine}.md", "json")
    return dict(json.loads(text))


@pytest.mark.servers
@pytest.mark.parametrize("records", ["documents", "sections", "docsearch"])
def test_a_real_opensearch_holds_what_was_sent(records: str) -> None:
    """Meilisearch and Typesense are in no registry: they are answered as their documentation says."""
    server, collection = node(), f"out-{uuid.uuid4().hex}"
    options = {"collection": collection, "records": records, "key": "", "networks": ["127.0.0.0/8"]}
    try:
        with closing(opened("opensearch", server, **options)) as destination:
            destination.deliver(Batch("1", [PARTS, document("https://a.example/b", "words", title="B")]))
            destination.deliver(Batch("2", [document(PARTS.url, "few words", title="Guide")]))
            destination.deliver(Batch("2", [document(PARTS.url, "few words", title="Guide")]))
            destination.deliver(Batch("3", [Deletion("s", "https://a.example/b")]))
        send("POST", f"{server}/{collection}/_refresh")
        found = send("GET", f"{server}/{collection}/_search?q=title:guide")["hits"]["hits"]
        assert [hit["_source"]["url"] for hit in found] == [PARTS.url]
        with closing(opened("opensearch", server, **options)) as again:
            again.deliver(Batch("4", [replace(PARTS, acl=())]))
        send("POST", f"{server}/{collection}/_refresh")
        count = send("GET", f"{server}/{collection}/_count")["count"]
        assert count == {"documents": 1, "sections": 5, "docsearch": 8}[records]
        answer: Any = send("POST", f"{server}/{collection}/_search", query_of_page("opensearch"))
        if records == "sections":
            assert [hit["_source"]["url"] for hit in answer["hits"]["hits"]] == [f"{PARTS.url}#setup"]
        if records == "docsearch":  # as Docusaurus filters
            both = [{"term": {"language": "en"}}, {"terms": {"docusaurus_tag": ["default", "docs-1.0"]}}]
            asked = {"query": {"bool": {"must": {"match": {"content": "install"}}, "filter": both}}}
            found = send("POST", f"{server}/{collection}/_search", asked)["hits"]["hits"]
            assert [hit["_source"]["url"] for hit in found] == [f"{PARTS.url}#setup"]
    finally:
        send("DELETE", f"{server}/{collection}")


@pytest.mark.servers
def test_a_real_solr_holds_what_was_sent() -> None:
    """Documents first, then sections of the same ones in their place, then what is left of them."""
    with solr_node() as server:

        def found(query: str) -> list[dict[str, Any]]:
            answer: Any = send("GET", f"{server}/{CORE}/select?q={query}&sort=id+asc&rows=100")
            return list(answer["response"]["docs"])

        options = {"collection": CORE, "key": "", "timeout": 60.0}
        with closing(opened("solr", server, **options)) as destination:
            destination.deliver(Batch("1", [PARTS, document("https://a.example/b", "words", title="B")]))
            assert [one["url_s"] for one in found("title_txt:guide")] == [PARTS.url]
            assert [one["LastModifiedDate_ds"] for one in found("acl_ss:staff")] == [[1714521600.0]]
        with closing(opened("solr", server, **options, records="sections")) as destination:
            for _ in range(2):  # as after a kill
                destination.deliver(Batch("2", [replace(PARTS, acl=())]))
            assert len(found("*:*")) == 6
            asked = urlencode(query_of_page("solr"), doseq=True)
            answer: Any = send("GET", f"{server}/{CORE}/select?{asked}")
            assert [one["url_s"] for one in answer["response"]["docs"]] == [f"{PARTS.url}#setup"]
            assert [one["url_s"] for one in found("hierarchy_lvl2_txt:proxies")] == [f"{PARTS.url}#proxies"]
            destination.deliver(Batch("3", [Deletion("s", PARTS.url)]))
            assert [one["url_s"] for one in found("*:*")] == ["https://a.example/b"]
        absent = opened("solr", server, **{**options, "collection": "none"})
        with closing(absent), pytest.raises(WorkError):
            absent.deliver(Batch("4", [PARTS]))
