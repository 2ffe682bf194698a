"""What an index and the document table do not agree about is found page by page."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from support.clock import AHEAD
from support.damage import flip
from support.inline_indexer import InlineIndexer
from support.memory_index import MemoryIndex
from support.opensearch import own_index
from support.project import LOOPBACK, ROOT, Workspace
from support.site import Site

from ultracrawl.index import Change, Deletion, IndexDocument, IndexEngine
from ultracrawl.index.engine import UNLIMITED, Json, Lease
from ultracrawl.index.project_index import open_index
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.indexing import reconciliation
from ultracrawl.run.indexing.reconciliation import COMPARED_SECONDS, lost_records, unknown_urls
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.project_stores import store_engine

NUMBER = 7


def url(number: int) -> str:
    return f"http://h/{number}"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with documents; that of number 0 is shown under another URL."""
    monkeypatch.setattr(reconciliation, "PAGE", 2)
    with closing(store_engine("sqlite").open_store(tmp_path, "s")) as store:
        for number in range(NUMBER):
            key = url_key(url(number))
            entry = QueueEntry(key, url(number), "h", 0, number)
            store.records.discover_url(entry, 1.0, queued=False)
            record = store.records.get_record(key)
            assert record is not None
            shown = "http://h/shown" if not number else ""
            store.records.amend_record(key, replace(record, indexed=True, display_url=shown))
        store.flush()
        yield store


SHOWN = ["http://h/shown", *map(url, range(1, NUMBER))]


def documents(urls: Iterable[str]) -> list[Change]:
    return [IndexDocument("s", one, "", "text") for one in urls]


class Shared(MemoryIndex):
    """An index that several machines write to, which tells no whole list of its documents."""

    asked: list[int]

    def apply_version(self, changes: Iterable[Change], version: int, lease: Lease = UNLIMITED) -> int:
        return self.apply(changes)

    def forget_holders(self, source: str) -> None:
        """Do nothing."""

    def refresh(self) -> None:
        """Do nothing."""

    def missing(self, source: str, urls: Sequence[str]) -> set[str]:
        self.asked.append(len(urls))
        known = {one for _, one in MemoryIndex.urls(self, source)}
        return set(urls) - known

    def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
        raise AssertionError("it may have more documents than there is memory for")


@pytest.mark.parametrize("is_shared", [False, True], ids=["own", "shared"])
def test_documents_that_an_index_lacks_are_found(state: Store, is_shared: bool) -> None:
    index = Shared({}) if is_shared else MemoryIndex({})
    index.apply(documents([*SHOWN[:3], *SHOWN[4:-1], "http://h/other"]))
    if isinstance(index, Shared):
        index.asked = []
    lost = lost_records(state, index, "s")
    assert [record.shown_url for record in lost] == [SHOWN[3], SHOWN[-1]]
    if isinstance(index, Shared):
        assert index.asked == [2, 2, 2, 1]


def test_documents_that_only_an_index_has_are_found_as_they_are_read(state: Store) -> None:
    index = MemoryIndex({})
    index.apply(documents([*SHOWN, url(0), url(NUMBER), url(NUMBER + 1)]))
    assert set(unknown_urls(state, index, "s")) == {url(0), url(NUMBER), url(NUMBER + 1)}
    read: list[str] = []

    class Noted(MemoryIndex):
        def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
            for number in range(1000):
                read.append(url(number))
                yield "s", url(NUMBER + number)

    assert len(list(islice(unknown_urls(state, Noted({}), "s"), 2))) == 2
    assert len(read) == 2


LATER = {AHEAD: str(COMPARED_SECONDS + 60)}


def crawl_pages(workspace: Workspace, site: Site, url: str, index: dict[str, Json], **env: str) -> None:
    for path in ("/", "/a", "/b"):
        site.page(path, title=path, text=f"heron {path}", links=["/a", "/b"])
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    workspace.write({"index": index, "sources": {"site": source}})
    workspace.crawl(**env)


@pytest.fixture(params=["whoosh", "tantivy", pytest.param("opensearch", marks=pytest.mark.servers)])
def crawled(
    request: pytest.FixtureRequest, site: Site, url: str, workspace: Workspace
) -> Iterator[Workspace]:
    """A project that has crawled three pages."""
    with own_index() if request.param == "opensearch" else nullcontext({}) as options:
        crawl_pages(workspace, site, url, {"path": "index", "engine": request.param, **options})
        yield workspace


def put_in_place(workspace: Workspace, url: str, other: str) -> None:
    """Delete a document from the index, and add one that no crawl has seen."""
    with closing(open_index(require(read_definitions(workspace.directory / "ultracrawl.yaml")))) as index:
        index.apply([Deletion("site", url), IndexDocument("site", other, "/other", "heron")])


def test_a_document_that_took_the_place_of_another_one_is_found_in_time(crawled: Workspace, url: str) -> None:
    """The number of documents is right all the time."""
    put_in_place(crawled, f"{url}/a", f"{url}/other")
    crawled.crawl()
    assert sorted(crawled.search("heron")) == ["/", "/b", "/other"], "they are not compared each time"
    crawled.crawl(**LATER)
    assert sorted(crawled.search("heron")) == ["/", "/a", "/b"]


def test_documents_that_agree_are_compared_once(
    workspace: Workspace, site: Site, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def noted(state: Store, index: IndexEngine, source: str) -> Iterator[str]:
        compared.append(source)
        return unknown_urls(state, index, source)

    monkeypatch.setattr(reconciliation, "unknown_urls", noted)
    crawl_pages(workspace, site, url, {"path": "index"})
    compared.clear()
    for _ in range(3):
        workspace.crawl(**LATER)
    assert compared == ["site"]


TELL = """
import atexit, sys

def tell():
    if "crawl" in sys.argv:
        loaded = {name.split(".")[-1] for name in sys.modules if name.startswith("ultracrawl.index.")}
        foreign = {"whoosh", "tantivy", "opensearchpy"} & sys.modules.keys()
        with open("loaded", "a") as file:
            print(*sorted(foreign | loaded & {"whoosh", "tantivy", "opensearch"}), file=file)

atexit.register(tell)
"""


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_no_crawl_loads_an_engine_into_its_process(tmp_path: Path, engine: str) -> None:
    """That takes longer than many pages, and the index process has loaded it already."""
    folder, index, site, workspace = tmp_path / "telling", tmp_path / "index", Site(), Workspace(tmp_path)
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(TELL)
    telling = {"PYTHONPATH": f"{folder}:{ROOT}"}
    with site.serve() as url:
        crawl_pages(workspace, site, url, {"path": "index", "engine": engine}, **telling)
        workspace.crawl(**telling)
        site.page("/b", title="/b", text="heron changed", links=["/a"])
        workspace.crawl(**telling)
        (index / "verified.txt").unlink()  # so that the index process is asked
        workspace.crawl(**telling)
        files = index.rglob("*.seg" if engine == "whoosh" else "*.term")
        flip(max(files, key=lambda one: one.stat().st_size))
        assert workspace.crawl(**telling).run["remarks"]
        shutil.rmtree(index)
        assert workspace.crawl(**telling).run["remarks"]
    assert sorted(workspace.search("heron")) == ["/", "/a", "/b"]
    assert (tmp_path / "loaded").read_text() == 6 * "\n"


def test_a_crawl_of_what_has_not_changed_starts_no_index_process(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def ask(self: InlineIndexer, question: Mapping[str, Json]) -> Mapping[str, object]:
        asked.append(question["ask"])
        return answer(self, question)

    answer = InlineIndexer.ask
    monkeypatch.setattr(InlineIndexer, "ask", ask)
    crawl_pages(workspace, site, url, {"path": "index"})
    for _ in range(2):
        workspace.crawl()
    assert asked == []
    put_in_place(workspace, f"{url}/a", f"{url}/other")
    workspace.crawl()
    assert asked == ["inspect"], "another process has written to the index"
