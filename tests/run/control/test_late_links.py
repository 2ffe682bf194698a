"""Links that wait for the next flush: a crawl finds the same pages, though it takes every URL for a known one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crash import build
from support.project import Workspace
from support.site import Site

pytestmark = pytest.mark.processes

PAGES = 40
_NO_FLUSH = """
from ultracrawl.scheduler.ingest import LinkIngest
LinkIngest.before_flush = LinkIngest.after_flush = lambda self: None
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
