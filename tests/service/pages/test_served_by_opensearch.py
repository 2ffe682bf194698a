"""Pages and API of a project whose index is on OpenSearch: they answer as over `whoosh`, in as few requests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from lxml.html import document_fromstring
from support.opensearch import own_index, send
from support.pages import Pages
from support.project import Workspace

from ultracrawl.index import IndexDocument
from ultracrawl.index.engine import Json
from ultracrawl.index.project_index import open_index
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore

pytestmark = pytest.mark.servers

LAKE, SEA = "http://lake.example/", "http://sea.example/"
RINGED = f"{LAKE}ringed"


def bird(source: str, name: str, text: str, author: str, acl: tuple[str, ...] = ()) -> IndexDocument:
    root = LAKE if source == "lake" else SEA
    title = f"{name.title()} of the {source}"
    return IndexDocument(source, f"{root}{name}", title, text, {"Author": [author]}, acl=acl)


DOCUMENTS = (
    bird("lake", "heron", "the grey heron stands in the shallow water and waits for fish", "Ann Lee"),
    bird("lake", "egret", "the white egret stands near the heron in shallow water", "Bob Ray"),
    bird("lake", "crane", "a crane dances on the meadow behind the shallow water", "Ann Lee"),
    bird("lake", "ringed", "the ringed bittern is counted by wardens", "Eve Warden", ("wardens",)),
    bird("lake", "booming", "the booming bittern hides from the heron", "Eve Warden", ("wardens",)),
    bird("sea", "gull", "the gull steals fish from the heron", "Bob Ray"),
    # an equal source, and one that only wardens see
    IndexDocument("same", f"{LAKE}heron", "Heron of the lake", "the grey heron stands in the shallow water"),
    bird("private", "petrel", "the petrel nests under the bittern", "Eve Warden", ("wardens",)),
)
WORDS = ("heron", "shallow water", '"white egret"', "fish -gull", "wader", "bittern", "heronn", "bittrn", "")
"""Queries. Only wardens may know the word `bittern`; `wader` is a synonym of the heron."""


class Two:
    """A project on OpenSearch, and the same one with another engine."""

    def __init__(self, folder: Path, options: dict[str, Json]) -> None:
        self.options = options
        self.served = self._made(folder / "opensearch", {"engine": "opensearch", **options})
        self.other = self._made(folder / "whoosh", {"engine": "whoosh"})
        for pages in (self.served, self.other):
            store = TokenStore.of_project(pages.project)
            pages.secret = store.create_token("anybody", Role.READER)
        self._wardens = {
            pages: TokenStore.of_project(pages.project).create_token("wardens", Role.READER, ("wardens",))
            for pages in (self.served, self.other)
        }

    @staticmethod
    def _made(folder: Path, index: dict[str, Json]) -> Pages:
        folder.mkdir()
        (folder / "synonyms.txt").write_text("wader => heron\n")
        sources = {
            name: {"start_urls": [SEA if name == "sea" else LAKE], "groups": ["birds"]}
            for name in ("lake", "sea", "same", "private")
        }
        search = {"synonyms": "synonyms.txt", "pins": [{"query": "shallow water", "urls": [f"{LAKE}crane"]}]}
        boosts = {f"{SEA}*": 100}
        definition = {"index": {**index, "boosts": boosts}, "search": search, "sources": sources}
        (folder / "ultracrawl.yaml").write_text(yaml.safe_dump(definition))
        pages = Pages(Workspace(folder))
        with closing(open_index(pages.project)) as opened:
            opened.apply(DOCUMENTS)
        return pages

    def answers(self, path: str, *, wardens: bool = False) -> tuple[Any, Any]:
        """Return both answers, without scores and times: JSON, or the text of a page."""
        asked = []
        for pages in (self.served, self.other):
            secret = self._wardens[pages] if wardens else pages.secret
            answer = pages.ask(path, signed_in=False, headers={"Authorization": f"Bearer {secret}"})
            assert answer.status_code == 200, answer.text
            asked.append(answer)
        return content_of(asked[0].text), content_of(asked[1].text)

    def requests(self, path: str) -> int:
        """Return how many requests the server gets for an answer, after one of the same kind."""
        before = self._searches()
        assert self.served.ask(path).status_code == 200
        return self._searches() - before

    def _searches(self) -> int:
        found: Any = send("GET", f"{self.options['url']}/{self.options['name']}/_stats/search")
        number: int = found["_all"]["total"]["search"]["query_total"]
        return number


def content_of(text: str) -> Any:
    if text.startswith("{"):
        found = json.loads(re.sub(r'"(score|took_ms)": [\d.]+', r'"\1": 0', text))
        if "hits" in found:
            found["hits"].sort(key=lambda hit: hit["url"])
        return found
    page = document_fromstring(text)
    return sorted(" ".join(one.text_content().split()) for one in page.cssselect("main h3, main li, main p"))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with own_index() as options:
        yield Two(tmp_path_factory.mktemp("served"), options)


def paths() -> Iterator[str]:
    for words in WORDS:
        counted = {"q": words, "facet": "Author", "count_sources": "true", "disjunctive_facets": "true"}
        yield "/api/v1/search?" + urlencode({**counted, "sections": 3})
        yield "/?" + urlencode({"q": words})
    yield "/api/v1/search?" + urlencode({"q": "heron", "where": "Author=Ann Lee", "sort": "Title"})
    yield "/api/v1/search?" + urlencode({"like": f"{LAKE}heron"})


def suggestions() -> Iterator[str]:
    for begun in ("he", "bit", "rin", "pet"):
        yield f"/api/v1/suggest?q={begun}"
        yield f"/suggestions?q={begun}"


def test_it_answers_as_another_engine_and_betrays_nothing(two: Two) -> None:
    for path in (*paths(), *suggestions()):
        served, _ = two.answers(path)
        for word in ("Ringed", "Booming", "Petrel", "Eve Warden", "private"):
            assert word not in json.dumps(served), path
        if "bittrn" in path:
            assert "bittern" not in json.dumps(served)
    for path in paths():
        for wardens in (False, True):
            served, other = two.answers(path, wardens=wardens)
            assert served == other, path


def test_it_completes_by_titles_as_another_engine_does(two: Two) -> None:
    """A server does not list the words of its index, by which others complete, too."""

    def lines(answer: Any) -> set[str]:
        return set(map(str, answer["completions"] if isinstance(answer, dict) else answer))

    for path in suggestions():
        for wardens in (False, True):
            served, other = two.answers(path, wardens=wardens)
            assert lines(served) <= lines(other), path
    served, _ = two.answers("/api/v1/suggest?q=he")
    assert [one["text"] for one in served["completions"]] == ["Heron of the lake"]


def test_wardens_find_what_is_theirs(two: Two) -> None:
    found, _ = two.answers("/api/v1/search?q=bittrn", wardens=True)
    assert found["suggestion"] == "bittern"
    found, _ = two.answers("/api/v1/suggest?q=rin", wardens=True)
    assert [one["url"] for one in found["completions"]] == [RINGED]


def test_pins_boosts_and_equal_sources(two: Two) -> None:
    def urls(words: str) -> list[str]:
        found = two.served.ask("/api/v1/search?" + urlencode({"q": words})).json()
        return [hit["url"] for hit in found["hits"]]

    assert urls("shallow water")[0] == f"{LAKE}crane"
    assert urls("heron")[0] == f"{SEA}gull"
    assert sorted(urls("wader")) == sorted(urls("heron"))
    assert urls("heron").count(f"{LAKE}heron") == 1


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/api/v1/search?q={}", 2),
        ("/api/v1/search?q={}&facet=Author&count_sources=true&sections=3", 2),
        ("/?q={}", 2),
        ("/api/v1/suggest?q={}", 2),
        ("/suggestions?q={}", 2),
        ("/api/v1/search?q={}n", 9),
    ],
)
def test_an_answer_takes_few_requests(two: Two, path: str, most: int) -> None:
    two.served.ask(path.format("egret"))  # what the process asks once: sources, the alias, languages
    assert two.requests(path.format("heron")) <= most
