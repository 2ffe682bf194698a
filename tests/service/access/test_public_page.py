"""What anybody finds where the search page is public: public sources, and nothing of their neighbours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from lxml.html import document_fromstring
from service.access.conftest import Browser, Service

from ultracrawl.index import IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.service.access.requester import Role
from ultracrawl.service.api.public_keys import BURST_OF_ADDRESS

SECRETS = ("sea", "gull", "coast", "staff", "ring", "zanzibar")
"""Words that only private documents and sources have."""


@pytest.fixture(params=["whoosh", "tantivy"])
def public(request: pytest.FixtureRequest, tmp_path: Path) -> Service:
    made = Service(tmp_path, request.param)
    made.define(search_page={"public": True}, search={"group_names": {"birds": "Birds", "coast": "Coast"}})
    index = open_index(made.project)
    index.apply([IndexDocument("sea", "http://sea.example/z", "Zanzibar", "zanzibar zanzibar heron")])
    index.close()
    return made


PATHS = [
"/api/v1/search?q=heron", "/api/v1/search?q=", "/api/v1/search?q=gull", "/api/v1/search?q=zanzibra",
    "/api/v1/search?q=guul", "/api/v1/search?q=zanz*", "/api/v1/search?q=heron+OR+gull",
    "/api/v1/search?q=heron&group=birds", "/api/v1/suggest?q=gu", "/api/v1/suggest?q=za", "/api/v1/suggest?q=r",
    "/?q=heron", "/?q=gu*", "/",
]  # fmt: skip


def test_neighbours_are_in_no_answer(public: Service, subtests: pytest.Subtests) -> None:
    for path in PATHS:
        with subtests.test(path):
            answer = Browser(public).get(path)
            assert answer.status_code == 200, answer.text
            asked = path.partition("?")[2]
            text = answer.text.lower().replace(asked.lower(), "")
            assert [word for word in SECRETS if re.search(rf"\b{word}\b", text) and word not in asked] == []
            assert "sea.example" not in text


def test_a_search_of_anybody_is_that_of_a_public_key(public: Service) -> None:
    answer = Browser(public).get("/api/v1/search?q=heron").json()
    assert [hit["url"] for hit in answer["hits"]] == ["http://lake.example/heron"]
    assert answer["total"] == 1
    assert {"source", "score", "attributes"}.isdisjoint(answer["hits"][0])


FAMILIES = (
    IndexDocument("lake", "http://lake.example/1", "One", "heron", {"Family": ["Ardeidae"]}),
    IndexDocument("lake", "http://lake.example/2", "Two", "heron", {"Family": ["Anatidae"]}),
    IndexDocument("lake", "http://lake.example/3", "Three", "heron", {"Family": ["Scolopacidae"]}, acl=("staff",)),
    IndexDocument("lake", "http://lake.example/4", "Four", "heron", {"Family": ["Ardeidae"]}, acl=("staff",)),
    IndexDocument("sea", "http://sea.example/5", "Five", "heron", {"Family": ["Laridae"]}),
    IndexDocument("sea", "http://sea.example/6", "Six", "heron", {"Family": ["Anatidae"]}),
)  # fmt: skip
PUBLIC_FAMILIES = {"Anatidae": 1, "Ardeidae": 1}


@pytest.fixture
def families(public: Service) -> Service:
    """Documents with an attribute that the page offers as a filter, of which some are private."""
    public.define(attributes={"Family": "string"}, search_page={"public": True})
    index = open_index(public.project)
    index.apply(FAMILIES)
    index.close()
    return public


def shown_families(browser: Browser, path: str) -> dict[str, int]:
    """Return the values of the filter that a page shows, with their numbers."""
    page = document_fromstring(browser.get(path).text)
    labels = [one.text_content() for one in page.cssselect(".filters .value .label")]
    counts = [int(one.text_content()) for one in page.cssselect(".filters .value .count")]
    return {label: count for label, count in zip(labels, counts, strict=True) if label.endswith("dae")}


def test_a_filter_counts_and_names_no_values_of_private_documents(families: Service) -> None:
    assert shown_families(Browser(families), "/?q=heron") == PUBLIC_FAMILIES
    chosen = shown_families(Browser(families), "/?q=heron&where=Family%3DArdeidae")
    assert chosen == PUBLIC_FAMILIES


def test_a_value_of_private_documents_is_as_unknown_as_an_invented_one(
    families: Service, subtests: pytest.Subtests
) -> None:
    for value in ["Laridae", "Scolopacidae"]:
        with subtests.test(value):
            pages = [
                Browser(families).get(f"/?q=heron&where=Family%3D{name}").text.replace(name, "NAME")
                for name in (value, "Inventidae")
            ]
            assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("principals", "shown"),
    [
        ((), {"Anatidae": 2, "Ardeidae": 1, "Laridae": 1}),
        (("staff",), {"Anatidae": 2, "Ardeidae": 2, "Laridae": 1, "Scolopacidae": 1}),
    ],
)
def test_a_filter_of_a_user_counts_what_the_user_may_see(
    families: Service, principals: tuple[str, ...], shown: dict[str, int]
) -> None:
    families.add("anna", Role.READER, principals)
    browser = Browser(families)
    browser.log_in()
    assert shown_families(browser, "/?q=heron") == shown
    facets = browser.get("/api/v1/search?q=heron&facet=Family").json()["facets"]["Family"]
    assert {one["value"]: one["count"] for one in facets} == shown


def test_a_private_name_is_as_unknown_as_an_invented_one(public: Service, subtests: pytest.Subtests) -> None:
    for name in ["source", "group", "index"]:
        with subtests.test(name):
            for path in ("/api/v1/search", "/api/v1/suggest"):
                answers: list[Any] = []
                for value in ({"source": "sea", "group": "coast", "index": "sea"}[name], "invented"):
                    answer = Browser(public).get(path, params={"q": "heron", name: value})
                    answers.append((answer.status_code, answer.text.replace(value, "NAME")))
                assert answers[0] == answers[1]


CLOSED = [
    "/sources", "/sources/lake", "/sources/sea", "/sources/none", "/sources/lake/explain?url=x", "/schedules",
    "/documents?source=lake&url=http://lake.example/heron", "/sources/lake/runs", "/sources/lake/urls",
]  # fmt: skip


def test_anybody_may_only_search(public: Service, subtests: pytest.Subtests) -> None:
    for path in CLOSED:
        with subtests.test(path):
            first, other = Browser(public).get(f"/api/v1{path}"), Browser(public).get("/api/v1/sources/other")
            assert (first.status_code, first.text) == (401, other.text)


DEAR = ["limit=21", "offset=201", "facet=Source", "where=Size=3", "like=x", "sort=date"]


def test_dear_searches_are_not_for_anybody(public: Service, subtests: pytest.Subtests) -> None:
    for query in DEAR:
        with subtests.test(query):
            assert Browser(public).get(f"/api/v1/search?q=heron&{query}").status_code == 400


def test_the_limit_of_an_address_shuts_out_no_other_and_no_user(public: Service) -> None:
    public.add("anna", Role.READER)
    flood, other, anna = (
        Browser(public, "203.0.113.9"),
        Browser(public, "203.0.113.10"),
        Browser(public, "203.0.113.9"),
    )
    anna.log_in()
    requests: list[tuple[str, str, dict[str, Any]]] = [("GET", "/api/v1/suggest?q=h", {})] * (
        BURST_OF_ADDRESS + 40
    )
    answers = {answer.status_code for answer in flood.ask_all(requests)}
    assert answers == {200, 429}
    assert other.get("/api/v1/suggest?q=h").status_code == 200
    assert anna.get("/api/v1/suggest?q=h").status_code == 200


def test_a_source_that_is_public_no_longer_is_gone_at_once(public: Service) -> None:
    browser = Browser(public)
    assert browser.get("/api/v1/search?q=heron").json()["total"] == 1
    text = (public.folder / "ultracrawl.yaml").read_text()
    (public.folder / "ultracrawl.yaml").write_text(text.replace("    public: true\n    start", "    start"))
    assert public.project.public_sources == ()
    assert browser.get("/api/v1/search?q=heron").json()["total"] == 0


@pytest.mark.parametrize(("principals", "total"), [((), 3), (("staff",), 4), (("other",), 3), (None, 4)])
def test_users_find_what_their_principals_may_see(
    public: Service, principals: tuple[str, ...] | None, total: int
) -> None:
    public.add("anna", Role.READER, principals)
    browser = Browser(public)
    browser.log_in()
    answer = browser.get("/api/v1/search?q=heron+OR+ringed&count_sources=true").json()
    assert answer["total"] == total
    completions = browser.get("/api/v1/suggest?q=rin").json()["completions"]
    assert [one["text"] for one in completions] == (["Ring"] if total == 4 else [])
    shown = browser.get("/api/v1/documents", params={"source": "lake", "url": "http://lake.example/ring"})
    assert shown.status_code == (200 if total == 4 else 404)
    assert browser.get("/api/v1/search?q=ringde").json()["suggestion"] == ("ringed" if total == 4 else "")
