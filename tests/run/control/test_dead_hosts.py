"""Documents of a host that is gone leave by the error rules, although its robots.txt cannot be read either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.free_port import free_port
from support.ftp import FtpSite
from support.project import Workspace
from support.site import Site

AFTER_TWO = {"errors": {"http": {"net": "DELETE:2"}}}


def crawl_dead(workspace: Workspace, site: Site, options: dict[str, Any], runs: int) -> list[dict[str, Any]]:
    """Crawl a site once while it is there, and then when it is gone; returns the later runs."""
    site.page("/", title="Home", text="needle", links=["/a"])
    site.page("/a", title="A", text="needle a")
    with site.serve() as url:
        workspace.define(f"{url}/", robots={"obey": False}, sitemaps={"use": False}, **options)
        assert workspace.crawl().run["outcomes"] == {"NEW": 2}
    workspace.define(f"{url}/", **options)
    return [workspace.crawl("--force", code=None).run for _ in range(runs)]


def test_a_host_that_is_gone_is_cleaned_up(site: Site, workspace: Workspace) -> None:
    first, second = crawl_dead(workspace, site, AFTER_TWO, 2)
    assert (first["outcomes"], first["deleted"]) == ({"NETWORK_ERROR": 2}, 0)
    assert (second["outcomes"], second["deleted"]) == ({"GONE": 2}, 2)
    assert workspace.search("needle") == []
    row = workspace.urls()["/a"]
    assert row["status_code"] == 951, "it was not asked for"
    assert "robots.txt" in row["reason"]
    assert "net DELETE:2" in row["reason"]


def test_without_a_rule_nothing_leaves(site: Site, workspace: Workspace) -> None:
    runs = crawl_dead(workspace, site, {}, 3)
    assert [run["deleted"] for run in runs] == [0, 0, 0]
    assert len(workspace.search("needle")) == 2


def test_further_attempts_of_a_rule_are_not_made_where_nothing_was_asked(
    site: Site, workspace: Workspace
) -> None:
    options = {**AFTER_TWO, "errors": {"http": {"net": "DELETE:2, RETRY:5"}}}
    (run,) = crawl_dead(workspace, site, options, 1)
    assert (run["outcomes"], run["deleted"]) == ({"NETWORK_ERROR": 2}, 0), "one error a run"


def test_an_ftp_server_that_is_gone_is_cleaned_up(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "served").mkdir()
    ftp = FtpSite(tmp_path / "served")
    ftp.put("notes.txt", "needle")
    options: dict[str, Any] = {
        "boundary": {"schemes": ["ftp"]},
        "errors": {"ftp": {"net": "DELETE:2"}, "http": {"net": "KEEP"}},
    }
    with ftp.serve() as address:
        workspace.define(f"{address}/notes.txt", robots={"obey": False}, sitemaps={"use": False}, **options)
        assert workspace.crawl().run["outcomes"] == {"NEW": 1}
    workspace.define(f"{address}/notes.txt", **options)
    assert workspace.crawl("--force", code=None).run["deleted"] == 0
    assert workspace.crawl("--force", code=None).run["deleted"] == 1


@pytest.mark.parametrize("status", [500, 503, 429])
def test_an_error_status_of_robots_txt_is_no_network_error(
    site: Site, url: str, workspace: Workspace, status: int
) -> None:
    site.page("/", title="Home", text="needle")
    options = {**AFTER_TWO, "errors": {"http": {"net": "DELETE:1", "5xx": "DELETE:1", "4xx": "DELETE:1"}}}
    workspace.define(f"{url}/", **options)
    workspace.crawl()
    site.robots("", status=status)
    for _ in range(2):
        assert workspace.crawl("--force", code=None).run["deleted"] == 0
    assert workspace.search("needle") == ["/"]


def test_a_dead_host_that_robots_txt_redirects_to_says_nothing_of_the_pages(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle")
    workspace.define(f"{url}/", **{**AFTER_TWO, "errors": {"http": {"net": "DELETE:1"}}})
    workspace.crawl()
    site.redirect("/robots.txt", f"http://127.0.0.1:{free_port()}/robots.txt")
    assert workspace.crawl("--force", code=None).run["deleted"] == 0
    assert workspace.search("needle") == ["/"]
