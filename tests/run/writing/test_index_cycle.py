"""Fetching and indexing take turns, and what is fetched is registered once (Ultra Search 6, checklist 2 to 11)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from support.crowd import Crowd
from support.project import LOOPBACK, Workspace, kill_group
from support.site import Site
from support.until import until

PAGES = 40


def defined(workspace: Workspace, url: str, cache: str, **politeness: object) -> None:
    source = {"start_urls": [f"{url}/"], "politeness": politeness, "boundary": LOOPBACK}
    workspace.write({"sources": {"site": source}, "cache": {"size": cache}})


@pytest.fixture
def long(site: Site) -> Site:
    """Return a site of 41 pages of 20 kB, each of which links to all the others."""
    links = [f"/{number}" for number in range(PAGES)]
    site.page("/", title="Home", links=links)
    for number in range(PAGES):
        site.page(f"/{number}", title=f"Page {number}", text="long words " * 1800, links=links)
    return site


@pytest.fixture
def slow(long: Site, url: str, workspace: Workspace) -> Iterator[subprocess.Popen[str]]:
    defined(workspace, url, "100 kB", delay=0.2, concurrency=1)
    process = workspace.start("crawl", "--json")
    yield process
    kill_group(process)


@pytest.mark.processes
def test_a_full_cache_is_indexed_and_crawling_goes_on__ultra_search_5_7(
    slow: subprocess.Popen[str], long: Site, workspace: Workspace
) -> None:
    found = list[int]()
    until(lambda: found.append(len(workspace.search("words"))) or found[-1], slow)  # type: ignore[func-returns-value]
    assert slow.poll() is None, "the crawl is still running"
    assert 0 < found[-1] < PAGES
    before = len(long.requests)
    until(lambda: len(long.requests) > before, slow)  # crawling goes on after a part was indexed


def test_an_empty_queue_lets_a_cache_be_indexed_that_is_not_full__ultra_search_6(
    long: Site, url: str, workspace: Workspace
) -> None:
    defined(workspace, url, "20 MB", delay=0, concurrency=4)
    assert workspace.crawl().run["indexed"] == PAGES + 1
    assert len(workspace.search("words")) == PAGES
    assert not [
        *(workspace.directory / "var/cache").rglob("*.open"),
        *(workspace.directory / "var/cache").rglob("*.sealed"),
    ]


def test_each_url_is_queued_once_and_registered__ultra_search_8_9_10_11(
    long: Site, url: str, workspace: Workspace
) -> None:
    defined(workspace, url, "20 MB", delay=0, concurrency=8)
    workspace.crawl()
    asked = [path for path in long.paths() if path in long.page_paths()]
    assert asked[0] == "/", "the first crawl begins with the seeds"
    assert len(asked) == len(set(asked)) == PAGES + 1
    assert set(workspace.urls()) == set(asked)
    assert {row["status_code"] for row in workspace.urls().values()} == {200}


def test_several_pages_are_fetched_at_the_same_time__ultra_search_2(
    site: Site, url: str, workspace: Workspace
) -> None:
    crowd = Crowd(4)
    site.page("/", title="Home", links=crowd.at(site, [f"/{number}" for number in range(8)]))
    defined(workspace, url, "20 MB", delay=0, concurrency=4)
    workspace.crawl()
    assert crowd.most == 4, "four are asked for before the first is answered, the fifth waits for a place"


@pytest.mark.processes
def test_fetched_documents_lie_in_a_cache_on_disk_first__ultra_search_3(
    long: Site, url: str, workspace: Workspace
) -> None:
    defined(workspace, url, "20 MB", delay=0.3, concurrency=1)
    process = workspace.start("crawl", "--json")

    def cached() -> str:
        return "".join(path.read_text() for path in (workspace.directory / "var/cache").rglob("*.open"))

    until(lambda: "long words" in cached(), process)
    assert workspace.indexed() == [], "the cache is not full, and the queue not empty"
    kill_group(process)
    assert f"{url}/" in cached(), "the URLs of what was fetched"
    defined(workspace, url, "20 MB", delay=0, concurrency=4)
    workspace.crawl()
    assert len(workspace.indexed()) == PAGES + 1


def test_a_url_is_out_of_the_queue_while_it_is_fetched__ultra_search_9(
    site: Site, url: str, workspace: Workspace
) -> None:
    others = [f"/{number}" for number in range(6)]
    site.page("/", title="Home", links=["/slow", *others])
    site.slow("/slow", 1.0, links=["/"])
    for path in others:
        site.page(path, title=path, links=["/slow"])
    defined(workspace, url, "20 MB", delay=0, concurrency=4)
    workspace.crawl()
    assert site.count("/slow") == 1, "links to it came while it was fetched"
    assert set(workspace.outcomes().values()) == {"NEW"}
