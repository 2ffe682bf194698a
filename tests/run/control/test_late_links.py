"""Links that wait for the next flush: a crawl finds the same pages, though it takes every URL for a known one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from support.crash import build
from support.project import Workspace
from support.site import Site

from ultracrawl.stores import SqliteStore

pytestmark = pytest.mark.processes

PAGES = 40
_NO_FLUSH = """
from ultracrawl.scheduler.ingest import LinkIngest
LinkIngest.before_flush = LinkIngest.after_flush = lambda self: None
"""
_FLUSH_BEHIND_SITEMAPS = """
from ultracrawl.run.discovery import sitemap_reader
sitemap_reader.FLUSH_AFTER = 1
"""
_CODE = """
from ultracrawl.stores import SqliteStore
from ultracrawl.stores.port.records import MemoryAnswer
from ultracrawl.run.lifecycle import context_of
from scrapy import signals


class Forgetful:
    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        extension.crawler = crawler
        crawler.signals.connect(extension.opened, signals.spider_opened)
        return extension

    def opened(self):
        records = context_of(self.crawler).store.records
        records.known_in_memory = lambda keys: MemoryAnswer({}, list(keys))
"""


@pytest.mark.parametrize(
    ("answered", "given"),
    [
        ("by flushes", {}),
        ("when nothing else is left", {}),
        ("before flushes", {"depth": 90}),
        ("before flushes", {"refresh": {"mode": "scratch"}}),
    ],
)
def test_a_crawl_that_takes_every_url_for_known_finds_the_same(
    site: Site, url: str, tmp_path: Path, answered: str, given: dict[str, object]
) -> None:
    build(site, PAGES)
    tables, outcomes = [], []
    for name in ("plain", "forgetful"):
        folder = tmp_path / name
        folder.mkdir()
        workspace, options = Workspace(folder), {}
        if name == "forgetful":
            (folder / "forgetful.py").write_text(
                _CODE + _NO_FLUSH * (answered == "when nothing else is left")
            )
            options = {"settings": {"EXTENSIONS": {"forgetful.Forgetful": 1}}}
        workspace.define(f"{url}/p0", **options, **given)
        # In a process of its own: what it changes in the program stays there.
        outcomes.append(workspace.crawl(hosted=False).run["outcomes"])
        if given:  # known URLs, of which the second run has to find all again
            outcomes.append(workspace.crawl(hosted=False).run["outcomes"])
            assert outcomes[-1]["NOT_MODIFIED"] == PAGES
        tables.append({path: (row["outcome"], row["depth"]) for path, row in workspace.urls().items()})
    assert tables[0] == tables[1]
    for one in outcomes:  # how many are read once more, for a shorter way to them, depends on time
        one.pop("UNMODIFIED", 0)
    assert outcomes[: len(outcomes) // 2] == outcomes[len(outcomes) // 2 :]
    assert outcomes[0]["NEW"] == PAGES


def test_what_feeds_and_sitemaps_name_may_wait_with_what_they_say_of_it(
    site: Site, url: str, tmp_path: Path
) -> None:
    for number in range(PAGES):
        site.page(f"/p{number}", title=f"Page {number}", text=f"word{number * 7919}")
    entries = "".join(
        f"<url><loc>{url}/p{number}</loc><priority>0.9</priority></url>" for number in range(PAGES // 2)
    )
    site.file("/map.xml", f"<urlset>{entries}</urlset>".encode(), "application/xml")
    items = "".join(f"<item><link>/p{number}</link></item>" for number in range(PAGES))
    feed = f"<rss version='2.0'><channel><title>News</title>{items}</channel></rss>"
    site.file("/feed.xml", feed.encode(), "application/rss+xml")
    known = []
    for name in ("plain", "forgetful"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "forgetful.py").write_text(_CODE + _FLUSH_BEHIND_SITEMAPS)
        workspace = Workspace(folder)
        options = {} if name == "plain" else {"settings": {"EXTENSIONS": {"forgetful.Forgetful": 1}}}
        workspace.define(
            start_urls=[],
            feeds={"urls": [f"{url}/feed.xml"]},
            sitemaps={"urls": [f"{url}/map.xml"]},
            **options,
        )
        assert workspace.crawl(hosted=False).run["outcomes"]["NEW"] == PAGES
        with closing(SqliteStore(folder / "var" / "state" / "site.sqlite", "site", read_only=True)) as store:
            known.append({page.url: (page.depth, page.priority) for page in store.visits.known_pages()})
    assert known[0] == known[1]
    assert len([priority for _, priority in known[0].values() if priority]) == PAGES // 2
