"""Depths after changes of links are those of a fresh crawl, in records and documents."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.crash import define
from support.in_process import InProcessWorkspace
from support.project import Workspace, kill_group
from support.same_index import index_differences
from support.site import Site
from support.until import until

PAGES = 40


class Shortcuts:
    """A chain of pages with links across it that change: every page stays reachable, and its depth moves."""

    def __init__(self, site: Site, dice: random.Random) -> None:
        self.site, self.dice = site, dice
        self.across = {number: self.anywhere() for number in range(PAGES)}
        self.publish(range(PAGES))

    def anywhere(self) -> list[int]:
        return [self.dice.randrange(PAGES) for _ in range(self.dice.choice((0, 0, 1, 2)))]

    def change(self, number: int) -> None:
        changed = self.dice.sample(range(PAGES), number)
        for page in changed:
            self.across[page] = self.anywhere()
        self.publish(changed)

    def shortest(self) -> dict[str, int]:
        """Return the number of links from the first page to every other one."""
        found, front, depth = {0: 0}, [0], 0
        while front:
            depth += 1
            reached = [to for page in front for to in (*self.across[page], page + 1) if to < PAGES]
            front = [to for to in dict.fromkeys(reached) if to not in found]
            found |= dict.fromkeys(front, depth)
        return {f"/p{page}": depth for page, depth in sorted(found.items())}

    def publish(self, pages: range | list[int]) -> None:
        for page in pages:
            links = [f"/p{target}" for target in self.across[page]]
            if page + 1 < PAGES:
                links.append(f"/to/{page + 1}" if page % 5 == 2 else f"/p{page + 1}")
                self.site.redirect(f"/to/{page + 1}", f"/p{page + 1}")
            self.site.page(f"/p{page}", title=f"Page {page}", text=f"words of {page}", links=links)


def crawled(directory: Path, url: str, engine: str = "whoosh", **source: object) -> InProcessWorkspace:
    directory.mkdir()
    workspace = InProcessWorkspace(directory)
    define(workspace, f"{url}/p0", engine, depth="FULL", sitemaps={"use": False}, **source)
    workspace.crawl()
    return workspace


def depths(workspace: InProcessWorkspace) -> dict[str, int]:
    rows = workspace.command("urls", "--json").lines
    return {
        path: row["depth"] for row in rows if (path := "/" + row["access_url"].split("/", 3)[3])[:2] == "/p"
    }


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_depths_are_those_of_a_fresh_crawl(
    site: Site, url: str, tmp_path: Path, engine: str, seed: int
) -> None:
    shortcuts = Shortcuts(site, random.Random(seed))
    kept = crawled(tmp_path / "kept", url, engine)
    for number in (1, 3, 12):
        shortcuts.change(number)
        kept.crawl()
        fresh = crawled(tmp_path / f"fresh{number}", url, engine)
        assert depths(fresh) == shortcuts.shortest()
        assert depths(kept) == shortcuts.shortest()
        assert index_differences(fresh, kept) == []


def test_depths_are_corrected_without_anchor_texts_too(site: Site, url: str, tmp_path: Path) -> None:
    shortcuts = Shortcuts(site, random.Random(4))
    kept = crawled(tmp_path / "kept", url)
    file = kept.directory / "ultracrawl.yaml"
    file.write_text(file.read_text().replace("engine: whoosh}", "engine: whoosh, anchors: false}"))
    kept.crawl()
    shortcuts.change(12)
    kept.crawl()
    fresh = crawled(tmp_path / "fresh", url)
    assert depths(kept) == shortcuts.shortest()
    assert indexed_depths(kept) == indexed_depths(fresh)


def indexed_depths(workspace: InProcessWorkspace) -> dict[str, int]:
    return {row["url"]: row.get("depth", 0) for row in workspace.command("index", "dump").lines}


def test_a_run_that_was_stopped_corrects_depths_in_the_end(site: Site, url: str, tmp_path: Path) -> None:
    shortcuts = Shortcuts(site, random.Random(5))
    kept = crawled(tmp_path / "kept", url)
    shortcuts.change(12)
    file = kept.directory / "ultracrawl.yaml"
    whole = file.read_text()
    for pages in (5, 12, 20):
        file.write_text(whole + f"    limits: {{pages: {pages}}}\n")
        kept.crawl(code=None)
    file.write_text(whole)
    kept.crawl()
    fresh = crawled(tmp_path / "fresh", url)
    assert depths(kept) == shortcuts.shortest()
    assert index_differences(fresh, kept) == []


def test_a_run_without_changes_reads_no_links(site: Site, url: str, tmp_path: Path) -> None:
    Shortcuts(site, random.Random(6))
    kept = crawled(tmp_path / "kept", url)
    kept.crawl()
    (state,) = kept.directory.glob("var/state/*.sqlite")
    with closing(sqlite3.connect(state)) as db:
        assert db.execute("SELECT count(*) FROM depth_due").fetchone() == (0,)


@pytest.mark.servers
@pytest.mark.parametrize("limit", [{}, {"depth": 9}])
def test_a_shorter_way_to_a_page_in_flight_survives_a_kill(
    site: Site, url: str, tmp_path: Path, limit: dict[str, int]
) -> None:
    site.page("/p0", links=["/p1", "/p9"])
    site.page("/p1", links=["/p2"])
    site.page("/p2", text="two", links=["/p3"])
    site.page("/p3", text="three", links=["/p4"])
    site.page("/p4", text="four")
    site.page("/p9", text="nine", links=["/p3"])
    held, shortcut = site.hold("/p3"), site.hold("/p9")
    workspace = Workspace(tmp_path)
    define(workspace, f"{url}/p0", "whoosh", sitemaps={"use": False}, **limit)
    crawling = workspace.start("crawl")
    until(lambda: site.count("/p3"), crawling)
    shortcut.set()
    until(lambda: stored_outcomes(tmp_path).get("/p9") == "NEW", crawling)
    kill_group(crawling)
    held.set()
    workspace.crawl()
    found = {path: row["depth"] for path, row in workspace.urls().items()}
    assert found == {"/p0": 0, "/p1": 1, "/p9": 1, "/p2": 2, "/p3": 2, "/p4": 3}


def stored_outcomes(directory: Path) -> dict[str, str]:
    """Return the outcome by path of every URL that is in the store of a crawl that goes on."""
    (state,) = directory.glob("var/state/*.sqlite")
    with closing(sqlite3.connect(state)) as db:
        return {
            "/" + url.split("/", 3)[3]: outcome for url, outcome in db.execute("SELECT url, outcome FROM url")
        }


def test_a_page_that_only_a_feed_led_to_any_more_has_its_depth_from_there(
    site: Site, url: str, tmp_path: Path
) -> None:
    site.page("/p0", links=["/p1", "/p9"])
    site.page("/p1", title="One", text="one", links=["/p2"])
    link = '<link rel=alternate type="application/rss+xml" href=/feed.xml>'
    site.page("/p2", title="Two", text="two", head=link)
    site.page("/p9", title="Nine", text="nine", links=["/p10"])
    site.page("/p10", title="Ten", text="ten")
    feed = "<rss version='2.0'><channel><title>Latest</title><item><link>/p9</link></item></channel></rss>"
    site.file("/feed.xml", feed.encode(), "application/rss+xml")
    kept = crawled(tmp_path / "kept", url, feeds={"discover": True})
    assert depths(kept) == {"/p0": 0, "/p1": 1, "/p2": 2, "/p9": 1, "/p10": 2}
    site.page("/p0", links=["/p1"])
    fresh = crawled(tmp_path / "fresh", url, feeds={"discover": True})
    assert depths(fresh)["/p9"] > 2
    site.file("/feed.xml", feed.partition("<item>")[0].encode() + b"</channel></rss>", "application/rss+xml")
    kept.crawl()
    assert depths(kept) == depths(fresh), "an entry that has left a feed still counts"
