"""A run that was closed while URLs were queued."""

from __future__ import annotations

from support.project import Workspace
from support.site import Site


def test_a_run_that_somebody_closed_goes_on(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=[f"/{number}" for number in range(9)], text="words")
    for number in range(9):
        site.page(f"/{number}", title=str(number), text=f"words {number}")
    slow = {"delay": 0.01, "concurrency": 1}
    workspace.define(f"{url}/", politeness=slow, settings={"CLOSESPIDER_PAGECOUNT": 3})
    workspace.crawl(code=None)
    workspace.define(f"{url}/", politeness=slow)
    run = workspace.crawl().run
    assert run["resumed"] is True
    assert len(workspace.search("words")) == 10
