"""SIGKILL at random moments: nothing lost, nothing twice, the index opens cleanly."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace, kill_group
from support.site import Site

PAGES = 300
KILLS = 20


def build(site: Site) -> None:
    """A tree of pages with links up, down and across, and a few that end otherwise."""
    for number in range(PAGES):
        children = [f"/p{child}" for child in range(3 * number + 1, 3 * number + 4) if child < PAGES]
        links = [*children, "/p0", f"/p{number * 7 % PAGES}", "/gone", "/moved", "/private"]
        site.page(
            f"/p{number}", title=f"Page {number}", links=links, text=f"unique{number} shared words " * 20
        )
    site.redirect("/moved", "/p5")
    site.gone("/gone")
    site.robots("User-agent: *\nDisallow: /private\n")


def result(workspace: Workspace) -> tuple[dict[str, Any], list[str]]:
    """What a crawl leaves: the document table without times, and what the index holds."""
    rows = workspace.urls()
    for row in rows.values():
        for name in ("first_seen", "last_fetched", "depth"):
            del row[name]
        row["url"] = row["display_url"] = row["access_url"] = row["access_url"].split("/", 3)[3]
        if row["reason"].startswith(("to http", "redirect")):
            row["reason"] = ""
    return rows, workspace.search("shared")


@pytest.mark.timeout(300)
def test_killed_again_and_again_the_crawl_ends_like_an_undisturbed_one(
    site: Site, url: str, tmp_path: Path
) -> None:
    build(site)
    calm, shaken = Workspace(tmp_path / "calm"), Workspace(tmp_path / "shaken")
    for workspace in (calm, shaken):
        workspace.directory.mkdir()
        workspace.define(f"{url}/p0", politeness={"delay": 0, "concurrency": 4})
    calm.crawl()
    dice = random.Random(2026)
    ended_early = 0
    for _ in range(KILLS):
        process = shaken.start("crawl", "--json")
        try:
            process.wait(timeout=0.75 + dice.random() * 0.9)
            ended_early += 1
            process.communicate()
        except subprocess.TimeoutExpired:
            kill_group(process)
    final = shaken.crawl(code=None)
    assert final.code == 0, final.err
    assert ended_early < KILLS, "not one kill hit a crawl; the moments are badly chosen"
    expected_rows, expected_hits = result(calm)
    rows, hits = result(shaken)
    finished = {path: {**row, "outcome": "", "status_code": 0} for path, row in rows.items()}
    assert finished == {path: {**row, "outcome": "", "status_code": 0} for path, row in expected_rows.items()}
    assert len(hits) == len(set(hits)), "a document is in the index twice"
    assert sorted(hits) == sorted(expected_hits)
    assert len(hits) == PAGES


def test_a_kill_in_the_middle_is_resumed_without_fetching_twice_what_was_done(
    site: Site, url: str, workspace: Workspace
) -> None:
    build(site)
    workspace.define(f"{url}/p0", politeness={"delay": 0.01, "concurrency": 1})
    process = workspace.start("crawl", "--json")
    while len(site.requests) < 100:
        time.sleep(0.02)
        assert process.poll() is None, process.communicate()
    kill_group(process)
    before = site.counts()
    run = workspace.crawl().run
    assert run["resumed"] is True
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert run["scheduled"] < PAGES + 3, "what was done before the kill is not scheduled again"
    twice = [path for path, count in site.counts().items() if count > 1 and path != "/robots.txt"]
    assert len(twice) <= 50, "at most what was not yet durable is fetched again"
    assert before.total() + 50 < site.counts().total() <= PAGES + 60
    assert len(workspace.search("shared")) == PAGES
