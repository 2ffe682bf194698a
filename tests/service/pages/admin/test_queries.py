"""Queries in the administration: golden ones that fell, the hits of one query, and texts for synonyms and pins."""

from __future__ import annotations

import shlex

import pytest
import yaml
from lxml.html import document_fromstring
from service.pages.admin.conftest import Administration, texts
from service.pages.test_page_attacks import QUOTES, SCRIPT, assert_harmless
from support.in_process import InProcessWorkspace

from ultracrawl.service.access.requester import Role
from ultracrawl.service.answers.watching import AnswerWatch
from ultracrawl.sources.sections.search import Pin

QUERY = "/admin/queries/query"


@pytest.fixture
def golden(workspace: InProcessWorkspace, administration: Administration, url: str) -> Administration:
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text(file.read_text() + "search_page: {check_answers: golden.yaml}\n")
    queries = [
        {"query": "heron", "pages": f"{url}/heron"},
        {"query": "stork", "pages": f"{url}/stork"},
        {"query": "lake", "pages": f"{url}/egret", "within": 2},
    ]
    (workspace.directory / "golden.yaml").write_text(yaml.safe_dump(queries))
    return administration


def check_now(administration: Administration) -> None:
    assert AnswerWatch(lambda: administration.project, lambda _: None).check()


def test_golden_queries_that_fell_are_listed(golden: Administration, url: str) -> None:
    assert not golden.get("/admin/queries").cssselect("#golden-title"), "nothing was checked yet"
    check_now(golden)
    page = golden.get("/admin/queries")
    rows = [texts(row, "th, td")[:4] for row in page.cssselect("[aria-labelledby=golden-title] tbody tr")]
    assert [row[:2] for row in rows] == [["stork", f"{url}/stork"], ["lake", f"{url}/egret"]]
    assert rows[0][3] == "10"
    places = {link.get("href") for link in page.cssselect("[aria-labelledby=golden-title] a")}
    assert {place.partition("#")[2] for place in places} == {"", "pin", "synonym-title"}
    for place in places:
        assert golden.get(place).cssselect("#pin, #synonym-title, #why")
    answer = golden.browser().get("/api/v1/queries/golden").json()
    assert [one["query"] for one in answer["fallen"]] == ["stork", "lake"]


def test_a_project_without_golden_queries_shows_none(golden: Administration) -> None:
    check_now(golden)
    file = golden.workspace.directory / "ultracrawl.yaml"
    file.write_text(file.read_text().replace("search_page: {check_answers: golden.yaml}\n", ""))
    assert not golden.get("/admin/queries").cssselect("#golden-title")
    assert golden.status("/api/v1/queries/golden") == 404


def test_the_hits_of_a_query_lead_to_why_each_is_there(administration: Administration, url: str) -> None:
    page = administration.get(f"{QUERY}?q=heron")
    (first, *_) = page.cssselect("[aria-labelledby=hits-title] tbody tr")
    assert f"{url}/heron" in first.text_content()
    (link,) = first.cssselect("a")
    assert administration.get(link.get("href")).cssselect(".chain")


def test_it_says_where_a_page_stands_that_should_come_first(administration: Administration, url: str) -> None:
    for wanted, verdict in ((f"{url}/heron", ".good-box"), (f"{url}/none", ".bad-box")):
        page = administration.get(f"{QUERY}?q=heron&page={wanted}")
        (box,) = page.cssselect(".verdict")
        assert page.cssselect(verdict) == [box]
        (why,) = box.cssselect("a")
        assert administration.get(why.get("href")).cssselect(".chain")
    elsewhere = administration.get(f"{QUERY}?q=heron&page=nowhere.example/x")
    (add,) = elsewhere.cssselect(".verdict a")
    assert add.get("href") == "/admin/definitions/new?url=https%3A%2F%2Fnowhere.example%2Fx"
    assert not administration.get(f"{QUERY}?q=heron&page=nowhere.example/x", Role.EDITOR).cssselect(
        ".verdict a"
    )


@pytest.mark.parametrize(
    "query", ["vacation: request, #1", 'it\'s "so" => {x}', "a\u001b[31m\nb", "=1+1", "- x"]
)
def test_texts_to_copy_say_what_was_asked_and_nothing_else(
    administration: Administration, query: str
) -> None:
    answer = administration.browser().ask(
        "GET", QUERY, params={"q": query, "page": "https://a.example/x y", "synonym": "holiday, => #leave"}
    )
    page = document_fromstring(answer.text)
    pin, synonym, check = (one.text_content() for one in page.cssselect("pre.code"))
    assert all(one.isprintable() for one in (pin.replace("\n", ""), synonym, check))
    plain = " ".join(query.replace("\u001b", " ").split())
    (found,) = yaml.safe_load(pin)["search"]["pins"]
    assert Pin(**found).query == plain
    assert synonym.count(",") == 1
    assert "=>" not in synonym
    assert not synonym.startswith("#")
    assert shlex.split(check)[3:] == ["--add", plain, "https://a.example/x y"]


def test_a_text_to_copy_has_a_query_in_its_own_letters(administration: Administration) -> None:
    answer = administration.browser().ask("GET", QUERY, params={"q": "été 魚"})
    pin = document_fromstring(answer.text).cssselect("pre.code")[0].text_content()
    assert "été 魚" in pin


@pytest.mark.parametrize("text", [SCRIPT, QUOTES, "{{ 7 * 7 }}"])
def test_what_people_type_is_text(administration: Administration, text: str) -> None:
    for fields in ({"q": text}, {"q": "heron", "page": text}, {"q": "heron", "synonym": text}):
        answer = administration.browser().ask("GET", QUERY, params=fields)
        assert answer.status_code == 200
        assert_harmless(document_fromstring(answer.text))


def test_documents_of_others_are_not_shown(
    administration: Administration, workspace: InProcessWorkspace
) -> None:
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text(file.read_text().replace("    type: web", "    type: web\n    acl: [staff]"))
    workspace.crawl()
    assert administration.get(f"{QUERY}?q=heron", Role.EDITOR).cssselect(".nothing")
    assert administration.status(f"{QUERY}?q=heron", Role.READER) == 403
    assert administration.status(f"{QUERY}?q=heron", None) == 303
    assert administration.status(f"{QUERY}?q=") == 400
