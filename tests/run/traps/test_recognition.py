"""A crawl bounds the traps of a site, loses none of its honest pages, and says everywhere which pattern is one."""

from __future__ import annotations

from typing import Any

import pytest
from service.pages.admin.conftest import Administration, texts
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.trap_sites import MadePage, calendar_in_query, chain, endless_pager, prose, put_site

from ultracrawl.run.inspection.queue_view import TRAP
from ultracrawl.run.traps.recognition import known_traps
from ultracrawl.service.notices.watch import ServiceWatch
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.sections.notices import NoticeKind

GALLERY = {f"/gallery/{number}" for number in range(45)}
PAGES = 20
"""The option `limits.trap_pages` of these tests."""


@pytest.fixture
def trapped(site: NetworkSite) -> None:
    """Serve two traps, and a gallery that looks like one."""
    site.robots("")
    start = MadePage("Start", ["/cal?month=24000", "/entries?page=1", "/gallery/0"])
    put_site(site, "/", lambda _: start)
    put_site(site, "/cal", calendar_in_query)
    put_site(site, "/entries", endless_pager)
    put_site(site, "/gallery/", chain("/gallery/", len(GALLERY), lambda number: prose(f"g{number}", 8)))


def define(workspace: InProcessWorkspace, url: str, **limits: Any) -> None:
    workspace.define(f"{url}/", limits={"trap_pages": PAGES, **limits}, sitemaps={"use": False})


def crawl(workspace: InProcessWorkspace) -> dict[str, Any]:
    run: dict[str, Any] = workspace.crawl().run
    return run


def patterns(workspace: InProcessWorkspace) -> dict[str, bool]:
    (row,) = workspace.command("status", "--json").json["sources"]
    return {trap["pattern"]: trap["bounded"] for trap in row["traps"]}


@pytest.mark.usefixtures("trapped")
def test_traps_are_bounded_and_named_and_the_next_run_is_the_same(
    site: NetworkSite, url: str, workspace: InProcessWorkspace
) -> None:
    define(workspace, url)
    run = crawl(workspace)
    paths = site.paths()
    traps = {f"{url}/cal?month=*", f"{url}/entries?page=*"}
    assert set(paths) >= GALLERY
    assert len(paths) < len(GALLERY) + 4 * PAGES
    assert paths.index("/gallery/44") < paths.index(f"/entries?page={PAGES - 2}"), (
        "the trap waits for the others"
    )
    assert set(run["rejected_by"]) == {f"limits.trap_pages {PAGES}: {one}" for one in traps}
    assert run["problems"] == []
    assert all(any(one in remark for remark in run["remarks"]) for one in traps)
    assert {one for one, bounded in patterns(workspace).items() if bounded} == traps
    assert all(any(one in line for line in workspace.command("status").out.splitlines()) for one in traps)
    assert set(workspace.command("plan", "--json").json["sources"][0]["traps"]) == traps
    waiting = workspace.command("queue", "--json", "--limit", "500").json["sources"][0]["urls"]
    assert {one["why"] for one in waiting if one["why"].startswith(TRAP)} == {
        f"{TRAP}: {one}" for one in traps
    }
    explained = workspace.command("explain", f"{url}/cal?month=7", "--json").lines[0]
    assert not explained["accept"]
    assert [one["stage"] for one in explained["decisions"] if not one["accept"]] == ["limit"]
    assert workspace.command("explain", f"{url}/cal?month=24000", "--json").lines[0]["accept"], "it is known"
    known, indexed = set(workspace.urls()), workspace.indexed()
    site.reset()
    again = crawl(workspace)
    assert site.page_paths() == set(paths) - {"/robots.txt"}
    assert set(again["outcomes"]) == {"UNMODIFIED", "REJECTED"}
    assert (set(workspace.urls()), workspace.indexed()) == (known, indexed)


@pytest.mark.usefixtures("trapped")
def test_a_notice_and_the_page_of_the_source_name_the_pattern(
    url: str, workspace: InProcessWorkspace
) -> None:
    define(workspace, url)
    crawl(workspace)
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    watch = ServiceWatch(lambda: project)
    (name,) = project.sources
    since = min(trap.since for trap in known_traps(project, project.sources[name]) if trap.bounded)
    assert [one.kind for one in watch.new_traps(name, since, 1.0)] == [NoticeKind.TRAP_FOUND] * 2
    assert watch.new_traps(name, since + 1e6, 1.0) == [], "each is told once"
    told = texts(Administration(workspace).get(f"/admin/sources/{name}"), ".traps code")
    assert f"{url}/cal?month=*" in told


@pytest.mark.usefixtures("trapped")
def test_an_allowed_pattern_comes_back_and_others_stay_bounded(
    site: NetworkSite, url: str, workspace: InProcessWorkspace
) -> None:
    define(workspace, url)
    before = crawl(workspace)["fetched"]
    site.reset()
    define(workspace, url, traps_allowed=[f"{url}/cal?month=*"], pages=before + 25)
    crawl(workspace)
    assert sum(path.startswith("/cal") for path in site.paths()) > 2 * PAGES + 15
    assert patterns(workspace) == {f"{url}/entries?page=*": True, f"{url}/entries?*": False}


@pytest.mark.usefixtures("trapped")
def test_a_pattern_that_is_excluded_as_suggested_is_no_subject_any_more(
    url: str, workspace: InProcessWorkspace
) -> None:
    define(workspace, url)
    crawl(workspace)
    assert workspace.command("suggest", "site", "--apply").code == 0
    written = (workspace.directory / "ultracrawl.yaml").read_text()
    run = crawl(workspace)
    assert not any("/cal?month" in remark or "/entries?page" in remark for remark in run["remarks"])
    assert not any(patterns(workspace).values())
    assert workspace.command("plan", "--json").json["sources"][0]["traps"] == []
    assert workspace.command("suggest", "site", "--apply").code == 0
    assert (workspace.directory / "ultracrawl.yaml").read_text() == written


@pytest.mark.usefixtures("trapped")
@pytest.mark.parametrize(("pages", "bounded"), [(30, 1), (None, 0)])
def test_the_limit_is_that_of_the_definition(
    url: str, workspace: InProcessWorkspace, pages: int | None, bounded: int
) -> None:
    define(workspace, url, trap_pages=pages, pages=len(GALLERY) + 85)
    run = crawl(workspace)
    assert bool(run["rejected_by"]) is bool(bounded)
    assert any(patterns(workspace).values()) is bool(bounded)


@pytest.mark.usefixtures("trapped")
def test_an_interrupted_run_goes_on_counting(
    site: NetworkSite, url: str, workspace: InProcessWorkspace
) -> None:
    for _ in range(4):
        define(workspace, url, pages=35)
        crawl(workspace)
    assert sum(patterns(workspace).values()) == 2
    assert set(site.paths()) >= GALLERY
    assert len(set(site.paths())) < len(GALLERY) + 5 * PAGES
