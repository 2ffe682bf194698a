"""A crawl over a damaged index, in which no page has changed, leaves one that answers, and says so."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.damage import cut, garbage, nul, zeros
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site

pytestmark = pytest.mark.servers  # much time

PATHS = ["/", "/a", "/b", "/c"]


class Crawled(NamedTuple):
    """A project that has crawled a site, whose server still runs."""

    site: Site
    directory: Path
    engine: str


@pytest.fixture(scope="module", params=["whoosh", "tantivy"])
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    site, directory = Site(), tmp_path_factory.mktemp(request.param)
    site.page("/", title="Home", links=PATHS[1:], text="heron home")
    for path in PATHS[1:]:
        site.page(path, title=path[1:], text=f"heron {path} " * 200)
    with site.serve() as url:
        source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
        sources = {"site": source, "other": {**source, "start_urls": [f"{url}/a"]}}
        Workspace(directory).write({"index": {"path": "index", "engine": request.param}, "sources": sources})
        Workspace(directory).command("crawl")
        yield Crawled(site, directory, request.param)


@pytest.fixture
def project(crawled: Crawled, tmp_path: Path) -> Workspace:
    shutil.copytree(crawled.directory, tmp_path / "project")
    return Workspace(tmp_path / "project")


DAMAGE: dict[str, list[tuple[str, Callable[[Path], None]]]] = {
    "whoosh": [("*.toc", garbage), ("*.toc", Path.unlink), ("*.seg", cut), ("*.seg", zeros)],
    "tantivy": [("current", nul), ("meta.json", garbage), ("*.store", cut), ("*.term", Path.unlink)],
}


def repaired_by_a_crawl(index: Path, project: Workspace) -> None:
    """Crawl a source; the repair is a problem only if another source has lost documents, and then names it."""
    ended = project.crawl("site", code=None)
    (said,) = [one for one in (*ended.run["problems"], *ended.run["remarks"]) if str(index) in one]
    is_whole = sorted(project.search("heron", "--source", "other")) == ["/a"]
    assert (ended.code, said in ended.run["remarks"]) == (0 if is_whole else 1, is_whole)
    assert is_whole or "`ultracrawl crawl other`" in said


@pytest.mark.parametrize("number", range(4))
def test_a_damaged_index_is_made_sound_by_crawls_that_find_nothing_new(
    crawled: Crawled, project: Workspace, number: int
) -> None:
    pattern, damage = DAMAGE[crawled.engine][number]
    index = project.directory / "index"
    damage(max(index.rglob(pattern), key=lambda path: path.stat().st_size))
    repaired_by_a_crawl(index, project)
    project.crawl("other")
    assert project.command("index", "check").code == 0
    assert sorted(project.search("heron", "--source", "site")) == PATHS
    assert sorted(project.search("heron", "--source", "other")) == ["/a"]
    assert project.crawl("site").run["outcomes"] == {"NOT_MODIFIED": 4}


def test_an_index_that_is_gone_is_filled_again(project: Workspace) -> None:
    shutil.rmtree(project.directory / "index")
    run = project.crawl("site").run
    assert run["remarks"] == [sentence("index.missing_fetched_again")]
    assert sorted(project.search("heron")) == PATHS


def test_damage_in_the_middle_of_the_words_is_found_by_the_next_crawl(
    crawled: Crawled, project: Workspace
) -> None:
    """The files open, and their documents are there; a search may find them, or nothing, or the damage."""
    index = project.directory / "index"
    for file in index.rglob("*.seg" if crawled.engine == "whoosh" else "*.idx"):
        data = bytearray(file.read_bytes())
        for place in range(len(data) // 8, len(data) * 3 // 4):
            data[place] ^= 0xFF
        file.write_bytes(data)
    ended = project.command("search", "heron")
    if ended.code:
        assert (ended.code, ended.err.count("\n")) == (1, 1)
        assert sentence("index.next_crawl_repairs") in ended.err
        assert str(index) in ended.err
    repaired_by_a_crawl(index, project)
    project.crawl("other")
    assert project.command("index", "check").code == 0
    assert sorted(project.search("heron", "--source", "site")) == PATHS
