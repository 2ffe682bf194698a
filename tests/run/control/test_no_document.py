"""A run after which its source has no document with text says why, each time; a small site that reads well does not."""

from __future__ import annotations

from typing import Any

import pytest
from support.fast import fast_xml
from support.project import LOOPBACK, Workspace
from support.robot import RobotFiles
from support.site import Site

SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
SHELL = '<script src="/app.js"></script>'


def runs(workspace: Workspace, number: int, code: int) -> list[dict[str, Any]]:
    return [workspace.crawl(code=code).run for _ in range(number)]


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (f"<html><head><title>App</title>{SHELL}</head><body><div id=root></div></body></html>", "no-text"),
        ("<html><head><title>Empty</title></head><body> </body></html>", "no-text"),
        ("", "empty"),
        ('<html><head><meta name="robots" content="noindex"></head><body>words</body></html>', "noindex"),
    ],
    ids=["scripts write it", "blank", "0 bytes", "noindex"],
)
def test_the_only_page_says_nothing(
    site: Site, url: str, workspace: Workspace, body: str, cause: str
) -> None:
    site.respond("/", headers={"Content-Type": "text/html"}, body=body)
    workspace.define(f"{url}/")
    for run in runs(workspace, 3, 1):
        assert (run["cause"], len(run["problems"]), f"{url}/" in run["problems"][0]) == (cause, 1, True)
    (row,) = workspace.command("status", "site", "--json").json["sources"]
    assert row["last_run"]["cause"] == cause


def test_a_page_that_scripts_write_names_the_option_that_runs_them(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", head=SHELL)
    workspace.define(f"{url}/")
    (problem,) = workspace.crawl(code=1).run["problems"]
    assert "`javascript: auto`" in problem


def test_a_type_that_is_not_accepted(site: Site, url: str, workspace: Workspace) -> None:
    site.respond("/", headers={"Content-Type": "application/x-own"}, body=b"\0\1\2")
    workspace.define(f"{url}/")
    for run in runs(workspace, 2, 1):
        assert run["cause"] == "type"
        assert "`types: [" in run["problems"][0]


def test_robots_txt_forbids_all(site: Site, url: str, workspace: Workspace) -> None:
    site.robots("User-agent: *\nDisallow: /")
    workspace.define(f"{url}/")
    for run in runs(workspace, 2, 1):
        assert run["cause"] == "robots"
        assert "`robots: {obey: false}`" in run["problems"][0]


def test_a_cookie_wall_that_leads_back(site: Site, url: str, workspace: Workspace) -> None:
    site.redirect("/", "/check", status=302)
    site.redirect("/check", "/", status=302, headers={"Set-Cookie": "seen=1"})
    workspace.define(f"{url}/")
    for run in runs(workspace, 3, 1):
        assert (run["cause"], len(run["problems"])) == ("redirect", 1)
        assert "`cookies: {enabled: true}`" in run["problems"][0]


def test_all_start_urls_are_outside(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", text="words")
    workspace.define(f"{url}/", boundary={"uris": {"exclude": [{"exact": f"{url}/"}]}})
    for run in runs(workspace, 2, 1):
        assert (run["cause"], len(run["problems"])) == ("no-start", 1)


def test_an_empty_sitemap_is_a_mistake_once(site: Site, url: str, workspace: Workspace) -> None:
    """Later it may be empty for a time."""
    site.sitemap("/map.xml", [])
    workspace.define(f"{url}/map.xml", sitemaps={"urls": [f"{url}/map.xml"], "only": True})
    first = workspace.crawl(code=1).run
    assert (first["cause"], len(first["problems"])) == ("sitemap", 1)
    later = workspace.crawl().run
    assert (later["problems"], len(later["remarks"])) == ([], 1)


@pytest.mark.parametrize("head", ["", SHELL], ids=["without scripts", "with scripts"])
def test_one_page_that_reads_well_is_a_success(site: Site, url: str, workspace: Workspace, head: str) -> None:
    site.page("/", text="words that say something " * (10 if head else 1), head=head)
    workspace.define(f"{url}/")
    for run in runs(workspace, 3, 0):
        assert (run["cause"], run["problems"]) == (None, [])


def test_a_start_page_without_text_leads_to_others_with_text(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", head=SHELL, links=["/a"])
    site.page("/a", text="words")
    workspace.define(f"{url}/")
    assert [run["cause"] for run in runs(workspace, 2, 0)] == [None, None]


def test_a_page_whose_scripts_cannot_be_run_is_none_that_needs_no_scripts(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracrawl.run.rendering.browser.PROGRAMS", ("no-such-browser",))
    site.page("/", title="App", head=SHELL)
    workspace.define(f"{url}/", javascript={"use": "auto"})
    for run in runs(workspace, 3, 1):
        assert (run["cause"], len(run["problems"])) == ("unrendered", 1)
    site.page("/", title="App", head=SHELL, text=" ".join(f"word{number}" for number in range(40)))
    assert workspace.crawl().run["cause"] is None


def test_a_page_that_a_sitemap_calls_unchanged_says_as_little_as_before(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", head=SHELL)
    dated = f"<url><loc>{url}/</loc><lastmod>2020-01-01</lastmod></url>"
    site.file("/map.xml", f'<urlset xmlns="{SITEMAP}">{dated}</urlset>'.encode(), "application/xml")
    workspace.define(f"{url}/", sitemaps={"urls": [f"{url}/map.xml"]})
    assert [run["cause"] for run in runs(workspace, 3, 1)] == ["no-text"] * 3


def test_a_page_that_was_read_and_may_not_be_indexed_any_more(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", text="words")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.page("/", text="words", robots="noindex")
    assert [run["cause"] for run in runs(workspace, 2, 1)] == ["noindex"] * 2
    site.page("/", text="words")
    assert workspace.crawl().run["cause"] is None


def exchange(workspace: Workspace, start: str, code: int = 0, **boundary: object) -> dict[str, Any]:
    """Crawl a source and one that takes its links; returns their causes."""
    common = {"politeness": {"delay": 0}, "sitemaps": {"use": False}}
    sender = {"start_urls": [start], "send_links_to": "other", "boundary": {**LOOPBACK, **boundary}}
    receiver = {"takes_links": True, "boundary": {**LOOPBACK, "domains": {"include": ["*"]}}}
    workspace.write({"sources": {"site": {**common, **sender}, "other": {**common, **receiver}}})
    return {run["source"]: run["cause"] for run in workspace.crawl(code=code).json["runs"]}


def test_a_source_whose_links_another_crawls_needs_no_document(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", robots="noindex", links=["/a"])
    site.page("/a", text="words")
    only_start = {"paths": {"*": {"exclude": ["/a"]}}}
    assert exchange(workspace, f"{url}/", **only_start) == {"site": None, "other": None}


def test_a_source_whose_links_another_crawls_needs_a_page_with_links(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", head=SHELL)
    assert exchange(workspace, f"{url}/", code=1) == {"site": "no-text", "other": None}


def test_no_source_of_those_that_exchange_links_begins(site: Site, url: str, workspace: Workspace) -> None:
    alone = {"takes_links": True, "boundary": LOOPBACK}
    workspace.write({"sources": {"a": {**alone, "send_links_to": "b"}, "b": {**alone, "send_links_to": "a"}}})
    ended = workspace.crawl(code=1)
    assert [run["cause"] for run in ended.json["runs"]] == ["no-start"] * 2


@pytest.mark.parametrize(
    "body", [f"<head>{SHELL}</head><body></body>", ""], ids=["scripts write it", "0 bytes"]
)
def test_a_robot_tells_it_too(site: Site, url: str, workspace: Workspace, body: str) -> None:
    site.respond("/", headers={"Content-Type": "text/html"}, body=f"<html>{body}</html>" if body else "")
    robot = RobotFiles(workspace)
    robot.site(f"{url}/")
    for _ in range(3):
        (run,) = robot.crawl(code=1).json["runs"]
        assert run["cause"] == ("no-text" if body else "empty")


@pytest.mark.parametrize("head", ["", SHELL], ids=["empty", "scripts write it"])
def test_a_collection_of_fast_tells_it_too(site: Site, url: str, workspace: Workspace, head: str) -> None:
    site.page("/", head=head)
    (workspace.directory / "networks.txt").write_text("127.0.0.0/8\n")
    (workspace.directory / "c.xml").write_text(fast_xml({"start_uris": (f"{url}/",), "delay": 0}))
    for _ in range(3):
        (run,) = workspace.crawl("-c", "c.xml", code=1).json["runs"]
        assert run["cause"] == "no-text"
