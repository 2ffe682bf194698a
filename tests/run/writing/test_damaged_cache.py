"""A part of the document cache that cannot be read: told once, what is sound in it kept, the rest fetched again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.crawled import CrawledProjects
from support.damage import DAMAGES
from support.project import LOOPBACK, Workspace, kill_group
from support.sentences import sentence
from support.site import Site
from support.until import until


@pytest.fixture
def waiting(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """A crawl whose documents wait for the index, and a cache on a disk that lost a piece of it."""
    for number in range(3):
        site.page(f"/{number}", title=str(number), text=f"needle {number}")
    site.page("/", title="Start", links=["/0", "/1", "/2"], text="where everything begins")
    workspace.define(f"{url}/", feeding={"paused": True})
    crawled_projects.crawl(workspace, site)
    workspace.define(f"{url}/")
    return site


def test_a_damaged_segment_does_not_block_its_source(waiting: Site, workspace: Workspace) -> None:
    folder = workspace.directory / "var/cache/site"
    (segment,) = folder.glob("*.sealed")
    lines = segment.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:-40] + b"\n"
    segment.write_bytes(b"".join(lines))
    waiting.reset()
    run = workspace.crawl(code=1).run
    (problem,) = run["problems"]
    assert f"{segment.name}:4 is damaged" in problem
    assert problem.endswith(sentence("index.segment_set_aside", segment=segment.stem))
    assert (folder / f"{segment.stem}.damaged").exists()
    assert run["outcomes"] == {"NOT_MODIFIED": 3, "NEW": 1}, "three of four documents were sound"
    assert sorted(workspace.search("needle")) == ["/0", "/1", "/2"]
    assert workspace.crawl().run["problems"] == []


def test_texts_of_links_in_a_damaged_segment_come_again(waiting: Site, workspace: Workspace) -> None:
    (segment,) = (workspace.directory / "var/cache/site").glob("*.sealed")
    segment.write_bytes(segment.read_bytes()[:-4] + b"\n")
    run = workspace.crawl(code=1).run
    assert f"{segment.name}:7 is damaged" in run["problems"][0]
    assert workspace.crawl().run["problems"] == []
    assert sorted(workspace.search("needle")) == ["/0", "/1", "/2"]
    dumped = map(json.loads, workspace.command("index", "dump").out.splitlines())
    assert {one["url"][-2:]: one["anchors"] for one in dumped if one["anchors"]} == {
        f"/{number}": [f"/{number}"] for number in range(3)
    }


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_segment_is_mended_whatever_happened_to_it(
    site: Site, url: str, workspace: Workspace, damage: Callable[[Path], None], engine: str
) -> None:
    for number in range(3):
        site.page(f"/{number}", title=str(number), text=f"needle {number}")
    site.page("/", title="Start", links=["/0", "/1", "/2"], text="where everything begins")
    source: dict[str, Any] = {
        "start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}, "feeding": {"paused": True}
    }  # fmt: skip
    workspace.write({"index": {"engine": engine}, "sources": {"site": source}})
    workspace.crawl()
    (segment,) = (workspace.directory / "var/cache/site").glob("*.sealed")
    damage(segment)
    del source["feeding"]
    workspace.write({"index": {"engine": engine}, "sources": {"site": source}})
    ended = workspace.crawl(code=None)
    assert "Traceback" not in ended.err
    assert all(str(segment) in problem for problem in ended.run["problems"])
    assert ended.code == bool(ended.run["problems"])
    if ended.code == 0:
        assert damage in (DAMAGES["empty"], DAMAGES["delete"]), (
            "these alone leave nothing that could be named"
        )
    assert workspace.crawl().run["problems"] == []
    assert sorted(workspace.search("needle")) == ["/0", "/1", "/2"]


@pytest.mark.processes
def test_a_resumed_run_fetches_what_was_in_a_cache_that_it_does_not_have(
    site: Site, url: str, workspace: Workspace
) -> None:
    pages = [f"/{number}" for number in range(3)]
    for path in pages:
        site.page(path, title=path, text=f"needle {path}")
    site.page("/last", text="the end")
    site.page("/", title="Start", links=[*pages, "/last"], text="where everything begins")
    hold = site.hold("/last")
    workspace.define(f"{url}/", feeding={"paused": True})
    process = workspace.start("crawl")
    until(lambda: site.count("/last"), process)
    until(lambda: [workspace.outcomes().get(path) for path in pages] == ["NEW"] * 3, process)
    kill_group(process)
    hold.set()
    shutil.rmtree(workspace.directory / "var/cache")
    workspace.define(f"{url}/")
    run = workspace.crawl().run
    assert run["resumed"]
    assert sorted(workspace.search("needle")) == pages
    assert [site.count(path) for path in pages] == [2] * 3
    assert workspace.crawl().run["indexed"] == 0, "nothing was left to be done"
