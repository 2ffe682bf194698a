"""The parts in which documents are stored: which of them searches read, and indexes of the layout without parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from index.conftest import ATTRIBUTES, LIBRARY, document
from support.opensearch import Open, Options, behind, send

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.opensearch.fields import (
    bulk_lines,
    key_of,
    mapping,
    marks,
    new_document,
    settings,
    stored_parts,
)
from ultracrawl.index.opensearch.server import Servers
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.values import change_to_line
from ultracrawl.model.page import Section

pytestmark = pytest.mark.servers

EARLIER = (1 << 32) + 5
"""The version of a change."""
FILLING = "Filling\n" + "word " * (STORED_TEXT_LIMIT // 5)
LONG = IndexDocument(
    "s",
    "/long",
    "Long",
    f"{FILLING}\nEnd\nthe bittern hides",
    sections=(
        Section(0, 1, "filling", "Filling"),
        Section(len(FILLING) + 1, 1, "end", "End"),
    ),
)
"""A document with a section behind the part of its text that ranks it."""
SHORT = document("/short", "a bittern, too", "Short")


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The stored parts of all hits of searches, since the list was cleared."""
    came: list[dict[str, Any]] = []
    ask = Servers.ask

    def noted(servers: Servers, method: str, path: str, *rest: Any, **parameters: Any) -> Any:
        answer = ask(servers, method, path, *rest, **parameters)
        if path.endswith("_search"):
            came.extend(dict(stored_parts(hit)) for hit in answer["hits"]["hits"])
        return answer

    monkeypatch.setattr(Servers, "ask", noted)
    return came


def parts(answered: list[dict[str, Any]]) -> set[str]:
    return {name for one in answered for name in one}


def shown(index: IndexEngine, text: str) -> list[tuple[str, str, str]]:
    hits = index.search(SearchQuery(text)).hits
    return [(hit.url, hit.section.anchor if hit.section else "", hit.snippet) for hit in hits]


def test_texts_are_read_as_far_as_they_are_needed(opened: Open, answered: list[dict[str, Any]]) -> None:
    index = opened()
    index.apply([LONG, SHORT])
    completed = index.search(SearchQuery("fil", completing=True))
    assert [hit.section.title for hit in completed.hits if hit.section] == ["Filling"]
    assert parts(answered) == {"head"}
    answered.clear()
    assert [url for url, *_ in shown(index, "short")] == ["/short"]
    assert parts(answered) == {"head", "text"}
    assert index.search(SearchQuery("bittern", limit=0)).total == 2
    assert parts(answered) == {"head", "text"}
    answered.clear()
    found = {url: (anchor, snippet) for url, anchor, snippet in shown(index, "bittern")}
    assert found["/long"][0] == "end"
    assert "bittern" in found["/long"][1]
    assert sorted(map(sorted, answered)) == [["head", "text"], ["head", "text"], ["rest"]]


def test_a_text_is_whole_where_it_is_read_whole(opened: Open) -> None:
    given = [
        IndexDocument(
            "s", f"/{character}{length}", "heron", character * length, {},
            sections=(Section(max(0, length - 1), 1, "end", ""),),
        )
        for character in "xü\U0001f426"
        for length in (0, STORED_TEXT_LIMIT - 1, STORED_TEXT_LIMIT, STORED_TEXT_LIMIT + 1)
    ]  # fmt: skip
    index = opened()
    index.apply(given)
    assert {one.url: one.text for one in index.documents()} == {one.url: one.text for one in given}
    assert {url for url, *_ in shown(index, "heron")} <= {one.url for one in given}
    assert index.check() == []


def test_a_text_that_cannot_be_encoded_is_stored_with_question_marks(opened: Open) -> None:
    index = opened()
    index.apply([document("/a", "a heron \ud800 waits", "T\udfff")])
    assert [(one.text, one.title) for one in index.documents()] == [("a heron ? waits", "T?")]


@pytest.fixture
def former(options: Options) -> Callable[[list[IndexDocument]], str]:
    """Makes an index as version 1 made it: one stored string, and length that lowers no score of most fields."""

    def make(documents: list[IndexDocument]) -> str:
        name, similarity = (
            f"{options['name']}-6-0",
            "double f = doc.freq; return query.boost * 2.2 * f / (f + 1.2);",
        )
        marked = {key: value for key, value in marks(ATTRIBUTES).items() if key != "mapping"}
        body: dict[str, Any] = {
            "settings": settings(1, 0),
            "mappings": mapping(ATTRIBUTES, marked),
            "aliases": {options["name"]: {}},
        }
        body["settings"]["similarity"]["flat"] = {"type": "scripted", "script": {"source": similarity}}
        for field in ("headings", "anchors", "section_anchors", "address", "parts"):
            body["mappings"]["properties"][field]["similarity"] = "flat"
        assert send("PUT", f"{options['url']}/{name}", body) is not None
        rows = []
        for one in documents:
            made = new_document(one, ATTRIBUTES) | {"stored": change_to_line(0, one).decode()}
            made.pop("rest", None)
            rows.append((key_of(one.source, one.url), made, EARLIER))
        servers = Servers(options)
        servers.write(bulk_lines(name, rows), by_alias=False)
        servers.ask("POST", f"/{name}/_refresh")
        servers.close()
        return name

    return make


def content(index: Any) -> list[tuple[object, ...]]:
    known = index.documents()
    return sorted((one.source, one.url, one.title, one.text, one.sections) for one in known)


def test_an_index_of_the_former_mapping_is_searched_as_it_is(
    opened: Open, options: Options, former: Callable[[list[IndexDocument]], str]
) -> None:
    name = former([*LIBRARY, LONG, SHORT])
    old = opened()
    answers = [shown(old, text) for text in ("heron", "grey heron", "short")]
    long = {url: anchor for url, anchor, _ in shown(old, "bittern")}
    completed = [hit.url for hit in old.search(SearchQuery("fil", completing=True)).hits]
    assert behind(options) == [name]
    assert old.rebuild() == len(LIBRARY) + 2
    assert [shown(old, text) for text in ("heron", "grey heron", "short")] == answers
    assert {url: anchor for url, anchor, _ in shown(old, "bittern")} == long
    assert completed == [hit.url for hit in old.search(SearchQuery("fil", completing=True)).hits] == ["/long"]


@pytest.mark.parametrize("by", ["a command", "a writer"])
def test_an_index_of_the_former_mapping_is_brought_up_to_date(
    opened: Open, options: Options, former: Callable[[list[IndexDocument]], str], by: str
) -> None:
    name = former([*LIBRARY, LONG])
    index = opened()
    before = content(index)
    if by == "a command":
        assert index.bring_up_to_date()
    else:
        assert index.apply_version([SHORT], EARLIER) == 1
    (made,) = behind(options)
    assert made != name
    assert not index.bring_up_to_date()
    assert [one for one in content(index) if one[1] != "/short"] == before
    assert index.check() == []
    fields: Any = send("GET", f"{options['url']}/{made}/_mapping")
    assert "similarity" not in fields[made]["mappings"]["properties"]["headings"]
    index.apply_version([document("/long", "late", "Late")], EARLIER - 1)
    assert content(index)[-1][2] != "Late", "documents keep their versions"


def test_long_texts_that_version_2_stored_otherwise_are_shown_as_ever(opened: Open, options: Options) -> None:
    index, texts = opened(), ("heron", "bittern", "filling")
    index.apply([*LIBRARY, LONG])
    answers = [shown(index, text) for text in texts]
    made: dict[str, Any] = new_document(LONG, ATTRIBUTES)
    made["stored"] |= {"rest": made.pop("rest")}
    servers = Servers(options)
    servers.write(bulk_lines(str(options["name"]), [(key_of("s", LONG.url), made, 0)]), by_alias=True)
    index.refresh()
    servers.close()
    assert [shown(index, text) for text in texts] == answers
    assert LONG.text in {one.text for one in index.documents()}


def test_length_lowers_the_score_of_every_field(opened: Open) -> None:
    few, many = ("heron",), ("heron", *(f"word{number}" for number in range(40)))
    index = opened()
    index.apply(
        [
            IndexDocument("s", "/many", "", "", anchors=many),
            IndexDocument("s", "/few", "", "", anchors=few),
        ]
    )
    result = index.search(SearchQuery("heron"))
    assert [hit.url for hit in result.hits] == ["/few", "/many"]
