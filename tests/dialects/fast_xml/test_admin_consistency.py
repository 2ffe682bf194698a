"""`admin consistency`: what the state, the index and the store of a collection do not agree about, and its repair."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from support.fast import fast_options, fast_xml
from support.project import Workspace
from support.site import Site

from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.sources import DataSource, Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import open_documents

FILE = "collection.xml"
SOUND = {"not_indexed": [], "unknown": [], "not_stored": [], "stored": 0, "sound": True}


class Handbook:
    """A collection with a sub-collection, crawled once."""

    def __init__(self, workspace: Workspace, site: Site, url: str) -> None:
        self.workspace, self.site, self.url = workspace, site, url
        site.page(
            "/", title="Home", text="needle", links=[*(f"/{number}" for number in range(20)), "/news/1"]
        )
        for path in (*(f"/{number}" for number in range(20)), "/news/1"):
            site.page(path, title=path, text=f"needle {path}")

    def crawl(self, **options: Any) -> None:
        part = f'<SubDomain name="news">{fast_options({"include_uris/prefix": (f"{self.url}/news/",)})}</SubDomain>'
        start = {"start_uris": (f"{self.url}/",), "delay": 0.0, **options}
        (self.workspace.directory / FILE).write_text(fast_xml(start, inside=part))
        self.workspace.crawl("-c", FILE)

    def check(self, *words: str, code: int) -> dict[str, dict[str, Any]]:
        ended = self.workspace.command("admin", "consistency", "handbook", "-c", FILE, "--json", *words)
        assert ended.code == code, ended.err
        rows = [{**one} for one in ended.json["collections"]]
        return {one.pop("source"): one for one in rows}

    def found(self) -> set[str]:
        hits = self.workspace.command(
            "search", "--json", "--as-typed", "--limit", "99", "-c", FILE, "needle"
        ).json["hits"]
        return {"/" + hit["url"].split("/", 3)[3] for hit in hits}

    @property
    def project(self) -> Project:
        return require(read_definitions(self.workspace.directory / FILE))

    @property
    def source(self) -> DataSource:
        return self.project.sources["handbook"]

    def index(self, *changes: Any) -> None:
        with closing(open_index(self.project)) as index:
            index.apply(changes)

    def lose(self, path: str) -> None:
        self.index(Deletion("handbook", f"{self.url}{path}"))

    def smuggle(self, path: str) -> None:
        self.index(IndexDocument("handbook", f"{self.url}{path}", title="old", text="needle old"))


@pytest.fixture
def handbook(workspace: Workspace, site: Site, url: str) -> Handbook:
    made = Handbook(workspace, site, url)
    made.crawl()
    return made


def test_after_a_crawl_all_agree(handbook: Handbook) -> None:
    assert handbook.check(code=0) == {"handbook": SOUND, "handbook.news": SOUND}


def test_what_the_index_lacks_is_made_again_without_a_request(handbook: Handbook) -> None:
    handbook.lose("/7")
    row = handbook.check(code=1)["handbook"]
    assert row == {**SOUND, "not_indexed": [f"{handbook.url}/7"], "sound": False}
    assert "/7" not in handbook.found(), "the check changes nothing"
    handbook.site.reset()
    handbook.check("--repair", code=0)
    assert "/7" in handbook.found()
    assert handbook.site.requests == []
    assert handbook.check(code=0)["handbook"] == SOUND


def test_what_the_index_lacks_and_nobody_stored_is_fetched_by_the_next_cycle(handbook: Handbook) -> None:
    with closing(open_documents(handbook.project, handbook.source)) as answers:
        answers.discard([url_key(f"{handbook.url}/7")])
    handbook.lose("/7")
    row = handbook.check(code=1)["handbook"]
    assert row["not_indexed"] == row["not_stored"] == [f"{handbook.url}/7"]
    handbook.check("--repair", code=0)
    handbook.crawl()
    assert "/7" in handbook.found()
    assert handbook.check(code=0)["handbook"] == SOUND


def test_what_the_state_does_not_know_leaves_with_the_next_cycle(handbook: Handbook) -> None:
    handbook.smuggle("/old")
    row = handbook.check(code=1)["handbook"]
    assert row == {**SOUND, "unknown": [f"{handbook.url}/old"], "sound": False}
    handbook.check("--repair", code=0)
    handbook.crawl()
    assert "/old" not in handbook.found()
    assert len(handbook.found()) == 22
    assert handbook.check(code=0)["handbook"] == SOUND


def test_one_missing_and_one_unknown_are_both_found_although_the_numbers_agree(handbook: Handbook) -> None:
    handbook.lose("/7")
    handbook.smuggle("/old")
    handbook.crawl()
    assert ("/7" in handbook.found(), "/old" in handbook.found()) == (False, True), "a cycle counts them only"
    handbook.check("--repair", code=0)
    handbook.crawl()
    assert ("/7" in handbook.found(), "/old" in handbook.found()) == (True, False)
    assert handbook.check(code=0)["handbook"] == SOUND


def test_what_the_state_does_not_know_stays_if_the_next_cycle_finds_it(handbook: Handbook) -> None:
    handbook.smuggle("/old")
    handbook.check("--repair", code=0)
    handbook.site.page("/0", title="0", text="needle 0", links=["/old"])
    handbook.site.page("/old", title="old", text="needle again")
    handbook.crawl()
    assert "/old" in handbook.found()
    assert handbook.check(code=0)["handbook"] == SOUND


def test_stored_items_of_unknown_uris_are_removed(handbook: Handbook) -> None:
    key = url_key(f"{handbook.url}/nobody")
    with closing(open_documents(handbook.project, handbook.source)) as answers:
        kept = answers.get(url_key(f"{handbook.url}/7"))
        assert isinstance(kept, StoredAnswer)
        answers.put_answer(key, kept, compress=True)
    assert handbook.check(code=1)["handbook"] == {**SOUND, "stored": 1, "sound": False}
    handbook.check("--repair", code=0)
    with closing(open_documents(handbook.project, handbook.source)) as answers:
        assert answers.get(key) is None
    assert handbook.check(code=0)["handbook"] == SOUND


def test_documents_that_wait_for_a_paused_index_are_not_missing(
    workspace: Workspace, site: Site, url: str
) -> None:
    paused = Handbook(workspace, site, url)
    paused.crawl(**{"pp/ds_paused": True})
    assert paused.check(code=0)["handbook"]["not_indexed"] == []
