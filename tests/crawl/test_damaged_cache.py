"""A part of the document cache that cannot be read: told once, what is sound in it kept, the rest fetched again."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site


@pytest.fixture
def waiting(site: Site, url: str, workspace: Workspace) -> Site:
    """A crawl whose documents wait for the index, and a cache on a disk that lost a piece of it."""
    for number in range(3):
        site.page(f"/{number}", title=str(number), text=f"needle {number}")
    site.page("/", title="Start", links=["/0", "/1", "/2"], text="where everything begins")
    workspace.define(f"{url}/", feeding={"paused": True})
    workspace.crawl()
    workspace.define(f"{url}/")
    return site


def test_a_damaged_segment_does_not_block_its_source(waiting: Site, workspace: Workspace) -> None:
    folder = workspace.directory / "var/cache/site"
    (segment,) = folder.glob("*.sealed")
    segment.write_bytes(segment.read_bytes()[:-40] + b"\n")
    waiting.reset()
    run = workspace.crawl(code=1).run
    (problem,) = run["problems"]
    assert f"{segment.name}:4 is damaged" in problem
    assert problem.endswith(f"; it is set aside as {segment.stem}.damaged, and what is lost is fetched again")
    assert (folder / f"{segment.stem}.damaged").exists()
    assert run["outcomes"] == {"NOT_MODIFIED": 3, "NEW": 1}, "three of four documents were sound"
    assert sorted(workspace.search("needle")) == ["/0", "/1", "/2"]
    assert workspace.crawl().run["problems"] == []
