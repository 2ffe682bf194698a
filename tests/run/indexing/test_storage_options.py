"""How stored documents are laid out and when they leave the store, and the lists of links (FAST 5.7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.fast import fast_xml
from support.project import Ended, Workspace
from support.sentences import sentence
from support.site import Site

from ultracrawl.model.answer import StoredAnswer
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.documents.clustered import clusters_of, open_clusters
from ultracrawl.stores.documents.response_bodies import FileStore
from ultracrawl.stores.project_stores import open_documents
from ultracrawl.stores.sqlite.answers.response_blocks import BlockStore

DOCUMENTS = "var/documents/handbook"


class Collection:
    """A FAST collection `handbook` in a workspace."""

    def __init__(self, workspace: Workspace, url: str) -> None:
        self.workspace = workspace
        self.url = url
        self.file = workspace.directory / "collection.xml"

    def write(self, options: dict[str, Any]) -> None:
        start = {"start_uris": (f"{self.url}/",), "delay": 0.0, "use_sitemaps": False}
        self.file.write_text(fast_xml({**start, **options}))

    def run(self, *words: str) -> Ended:
        return self.workspace.command(*words, "-c", "collection.xml")

    def crawl(self, options: dict[str, Any]) -> None:
        self.write(options)
        ended = self.run("crawl", "--json")
        assert ended.code == 0, ended.err

    def stored(self) -> int:
        project = require(read_definitions(self.file))
        store = open_documents(project, project.sources["handbook"])
        try:
            return len(store.stored_keys())
        finally:
            store.close()


@pytest.fixture
def collection(site: Site, workspace: Workspace, url: str) -> Collection:
    site.page("/", title="Home", links=["/a", "b/c?x=1", "#here", "mailto:m@example.com"], text="welcome")
    site.page(
        "/a", title="Alpha", text="an aardvark", links=["https://elsewhere.example/x"], robots="nofollow"
    )
    site.page("/b/c?x=1", title="Beta", text="a badger", links=["../a"])
    return Collection(workspace, url)


@pytest.mark.parametrize(("remove", "left"), [(False, 3), (True, 0)], ids=["fast_105-no", "fast_105-yes"])
def test_bodies_leave_the_store_once_they_were_sent(collection: Collection, remove: bool, left: int) -> None:
    collection.crawl({"storage/remove_docs": remove})
    assert collection.stored() == left
    assert len(collection.run("search", "--json", "--as-typed", "a").json["hits"]) >= 1
    again = collection.run("reindex", "handbook")
    assert again.code == (1 if remove else 0)
    assert (sentence("storage.not_stored") in again.out + again.err) is remove


def test_fast_105_bodies_stay_until_every_destination_has_them(collection: Collection) -> None:
    two = {
        "storage/remove_docs": True,
        "feeding/one/collection": "handbook",
        "feeding/one/primary": True,
        "feeding/two/collection": "archive",
    }
    collection.crawl({**two, "feeding/two/paused": True})
    assert collection.stored() == 3, "fast_123: one of them has not got them yet"
    collection.crawl(two)
    assert collection.stored() == 0


@pytest.mark.parametrize("form", ["bstore", "flatfile"])
def test_fast_106_a_store_is_divided_and_stays_as_it_was_begun(collection: Collection, form: str) -> None:
    folder = collection.workspace.directory / DOCUMENTS
    collection.crawl({"storage/datastore": form, "storage/clusters": 3})
    assert clusters_of(folder) == 3
    assert collection.stored() == 3
    collection.crawl({"storage/datastore": form, "storage/clusters": 5})
    assert (clusters_of(folder), collection.stored()) == (3, 3)
    assert collection.run("reindex", "handbook").code == 0


def answer(number: int) -> StoredAnswer:
    return StoredAnswer(f"http://h/{number}", 0.0, (), bytes([number % 256]) * 20_000, "")


@pytest.mark.parametrize(
    ("threshold", "shrinks"), [(0, False), (30, False), (85, True)], ids=lambda value: f"fast_107-{value}"
)
def test_fast_107_a_file_is_made_smaller_when_little_of_it_is_used(
    tmp_path: Path, threshold: int, shrinks: bool
) -> None:
    store = BlockStore(tmp_path, threshold)
    for number in range(100):
        store.put_answer(number, answer(number), compress=False)
    store.retain(frozenset(range(60)))
    assert store.get(5) == answer(5)
    store.close()
    size = (tmp_path / "documents.sqlite").stat().st_size
    assert (size < 1_400_000) is shrinks, "100 documents of 20,000 bytes were in it, 60 are left"


@pytest.mark.parametrize("kind", [BlockStore, FileStore])
def test_a_divided_store_is_one_store(tmp_path: Path, kind: type[BlockStore | FileStore]) -> None:
    store = open_clusters(tmp_path, 4, kind)
    for number in range(-20, 20):
        store.put_answer(number, answer(number % 256), compress=True)
    assert store.stored_keys() == list(range(-20, 20))
    store.discard(range(-20, 0))
    assert store.retain(frozenset(range(10))) == 10
    assert store.stored_keys() == list(range(10))
    assert store.get(3) == answer(3)
    assert store.get(15) is None
    assert 0 < store.size < 10_000
    store.close()


@pytest.mark.processes
def test_fast_108_every_link_is_listed_before_any_rule(collection: Collection, site: Site) -> None:
    collection.crawl({})
    folder = collection.workspace.directory / "lists"
    assert not folder.exists()
    collection.crawl({"storage/uri_dir": "lists", "use_meta_csum": True})
    (file,) = folder.glob("*.txt")
    assert file.stem.isdecimal()
    lines = file.read_text().splitlines()
    assert f"{collection.url}/a" in lines
    assert f"{collection.url}/b/c?x=1" in lines
    assert "https://elsewhere.example/x" in lines, "neither nofollow nor the boundary were asked"
    assert lines.count(f"{collection.url}/a") == 2, "once for each page that has it"
    site.page("/", title="Home", links=["/new"], text="changed")
    site.page("/new", text="new")
    collection.crawl({"storage/uri_dir": "lists", "use_meta_csum": True})
    assert len(list(folder.glob("*.txt"))) == 2, "each process has its own"
