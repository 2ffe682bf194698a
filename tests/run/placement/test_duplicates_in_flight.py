"""Two copies of one content that are in flight at once: which is the duplicate hangs on the URLs, not on the order."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site

STORY = "a heron stands in the shallow water and waits for a fish that does not come "

MEET = """
import asyncio

class Meet:
    waiting = {}

    async def process_item(self, item):
        if "heron" in item.access_url and len(self.waiting) < 2:
            go = self.waiting[item.access_url] = asyncio.get_running_loop().create_future()
            if len(self.waiting) == 2:
                self.task = asyncio.ensure_future(self.release())
            await go
        return item

    async def release(self):
        best, worst = sorted(self.waiting, key=len)
        for url in (best, worst) if BEST_FIRST else (worst, best):
            if FAILS and url == best:
                self.waiting[url].set_exception(ValueError("boom"))
            else:
                self.waiting[url].set_result(None)
            await asyncio.sleep(0.05)
"""
"""A pipeline that holds the documents of both copies, and lets them go in an order."""


def crawl(site: Site, url: str, workspace: Workspace, *, best_first: bool, fails: bool = False) -> None:
    site.page("/", title="Start", links=["/heron", "/print/heron"], text="where everything begins")
    site.page("/heron", title="Heron", text=STORY, head='<link rel="next" href="/from-heron">')
    site.page("/print/heron", title="Heron", text=STORY, head='<link rel="next" href="/from-print">')
    site.page("/from-heron", title="A", text="reached from the one")
    site.page("/from-print", title="B", text="reached from the other")
    code = MEET.replace("BEST_FIRST", str(best_first)).replace("FAILS", str(fails))
    (workspace.directory / "meet.py").write_text(code)
    settings = {"ITEM_PIPELINES": {"meet.Meet": 50}}
    workspace.define(f"{url}/", duplicates={"follow_links": False}, settings=settings)
    workspace.crawl()


@pytest.mark.parametrize("best_first", [True, False])
def test_links_of_the_copy_that_is_the_duplicate_are_not_followed(
    site: Site, url: str, workspace: Workspace, best_first: bool
) -> None:
    crawl(site, url, workspace, best_first=best_first)
    outcomes = workspace.outcomes()
    assert (outcomes["/heron"], outcomes["/print/heron"]) == ("NEW", "DUPLICATE")
    assert (site.count("/from-heron"), site.count("/from-print")) == (1, 0)
    assert workspace.search("shallow") == ["/heron"]


@pytest.mark.parametrize("best_first", [True, False])
def test_the_worse_copy_is_indexed_if_the_better_one_fails(
    site: Site, url: str, workspace: Workspace, best_first: bool
) -> None:
    crawl(site, url, workspace, best_first=best_first, fails=True)
    outcomes = workspace.outcomes()
    assert (outcomes["/heron"], outcomes["/print/heron"]) == ("FAILED", "NEW")
    assert site.count("/from-print") == 1
    assert workspace.search("shallow") == ["/print/heron"]
