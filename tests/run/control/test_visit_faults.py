"""Whatever code of others does to a visit: it has one outcome, the run ends, the next is as if nothing had been."""

from __future__ import annotations

from collections import Counter

import pytest
from support.faults import DOWNLOADER, FAULTS, Fault
from support.project import Workspace
from support.site import Site

pytestmark = pytest.mark.servers  # much time

PAGES = [f"/{number}" for number in range(6)]


def three_pages(site: Site) -> None:
    site.page("/", title="Home", links=["/hit", *PAGES], text="words")
    site.page("/hit", title="Hit", text="needle")
    site.page("/elsewhere", title="Elsewhere", text="words")
    for page in PAGES:
        site.page(page, title=page, text=f"words {page}")


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_a_fault_costs_one_visit(site: Site, url: str, workspace: Workspace, fault: Fault) -> None:
    three_pages(site)
    fault.install(workspace.directory)
    limits = {"timeout": 4, "retries": 0}
    workspace.define(f"{url}/", limits=limits, **fault.options())
    ended = workspace.crawl(code=None)
    run, table = ended.run, workspace.urls()
    hit = table["/hit"]
    assert hit["outcome"] != "QUEUED"
    assert fault.outcome in ("", hit["outcome"]), hit
    told = [line for line in run["problems"] if "/hit" in line or fault.name in line]
    assert bool(told) is fault.told, run["problems"]
    assert ended.code == (1 if run["problems"] else 0)
    if not fault.closes:
        assert {path for path, row in table.items() if row["outcome"] == "NEW"} >= {"/", *PAGES}
        assert run["outcomes"] == Counter(row["outcome"] for row in table.values())
        assert sum(run["outcomes"].values()) == run["scheduled"]
    workspace.define(f"{url}/")
    site.change("/5", text="bittern")
    if fault.closes:
        workspace.crawl()
    again = workspace.crawl().run
    assert again["resumed"] is False
    assert workspace.outcomes()["/hit"] in ("NEW", "MODIFIED", "NOT_MODIFIED")
    if (hit["outcome"], hit["status_code"]) != (
        "NOT_INDEXED",
        200,
    ):  # what a pipeline drops it drops for good
        assert workspace.search("needle") == ["/hit"]
    assert workspace.search("bittern") == ["/5"]


def test_a_robots_txt_that_never_comes_back_ends_the_run(site: Site, url: str, workspace: Workspace) -> None:
    three_pages(site)
    fault = Fault(DOWNLOADER, "HoldsRobots")
    fault.install(workspace.directory)
    workspace.define(
        f"{url}/", limits={"timeout": 0.2, "retries": 0}, robots={"timeout": 0.2}, **fault.options()
    )
    run = workspace.crawl(code=1).run
    assert run["outcomes"] == {"NETWORK_ERROR": 1}
