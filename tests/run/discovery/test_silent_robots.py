"""A robots.txt that does not come is waited for as long as `robots.timeout` says, or as long as a page."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site


@pytest.mark.parametrize("seconds", [15, 60, None])
def test_it_is_waited_for(site: Site, url: str, workspace: Workspace, seconds: int | None) -> None:
    site.page("/", title="Home", text="words")
    site.slow("/robots.txt", 1000.0)
    robots = {} if seconds is None else {"robots": {"timeout": seconds}}
    workspace.define(f"{url}/", limits={"timeout": 1, "retries": 0}, **robots)
    run = workspace.crawl(code=None).run
    row = workspace.urls()["/"]
    assert row["outcome"] == "NETWORK_ERROR"
    assert row["cause"] == "robots-unknown"
    assert not any("/robots.txt" in problem for problem in run["problems"]), "no code of others has lost it"
    assert site.paths() == ["/robots.txt"]


@pytest.mark.parametrize(
    ("pages", "robots", "outcome"),
    [(100, None, "NETWORK_ERROR"), (1000, None, "NEW"), (1000, 100, "NETWORK_ERROR"), (100, 1000, "NEW")],
)
def test_without_a_time_of_its_own_it_has_the_time_of_a_page(
    site: Site, url: str, workspace: Workspace, pages: int, robots: int | None, outcome: str
) -> None:
    site.page("/", title="Home", text="words")
    site.slow("/robots.txt", 350.0)
    workspace.define(f"{url}/", limits={"timeout": pages, "retries": 0}, robots={"timeout": robots})
    workspace.crawl(code=None)
    assert workspace.urls()["/"]["outcome"] == outcome
