"""A robots.txt that does not come is waited for as long as `robots.timeout` says, whatever pages may take."""

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
