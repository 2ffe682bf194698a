"""SIGKILL at random moments: nothing lost, nothing twice, the index opens cleanly."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crash import build, shake
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

pytestmark = pytest.mark.servers  # much time

PAGES = 200


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kills", "pages"), [(3, 60), pytest.param(20, 150, marks=pytest.mark.night)])
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_killed_again_and_again_the_crawl_ends_like_an_undisturbed_one(
    site: Site, url: str, tmp_path: Path, engine: str, kills: int, pages: int
) -> None:
    build(site, pages)
    result = shake(site, url, tmp_path, pages=pages, kills=kills, seed=2026, engine=engine)
    assert result.differences == []
    assert result.kills == kills


def test_a_kill_in_the_middle_is_resumed_without_fetching_twice_what_was_done(
    site: Site, url: str, workspace: Workspace
) -> None:
    build(site, PAGES)
    workspace.define(f"{url}/p0", politeness={"delay": 0.01, "concurrency": 1})
    process = workspace.start("crawl", "--json")
    until(lambda: len(site.requests) >= 100, process)
    kill_group(process)
    before = site.counts()
    run = workspace.crawl().run
    assert run["resumed"] is True
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert run["outcomes_before"]["NEW"] + run["outcomes"]["NEW"] == PAGES
    assert run["indexed"] == len(workspace.indexed()) == PAGES, "no page in flight counts twice"
    assert run["scheduled"] < PAGES + 3, "what was done before the kill is not scheduled again"
    twice = [path for path, count in site.counts().items() if count > 1 and path != "/robots.txt"]
    assert len(twice) <= 50, "at most what was not yet durable is fetched again"
    assert before.total() + 50 < site.counts().total() <= PAGES + 60
    assert len(workspace.search("shared")) == PAGES
