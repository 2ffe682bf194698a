"""`mode: adaptive` in real crawls."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.project import Workspace
from support.site import Site

PAGES = [f"/{number}" for number in range(40)]


def define(workspace: Workspace, url: str, **adaptive: Any) -> None:
    refresh = {"mode": "adaptive", "interval": "24 h", "adaptive": {"coverage_min": 5, **adaptive}}
    workspace.define(f"{url}/", refresh=refresh, sitemaps={"use": False})


@pytest.fixture
def forty(site: Site) -> Site:
    site.page("/", title="Home", links=PAGES, text="words")
    for path in PAGES:
        site.page(path, title=path, text="words")
    return site


def asked(site: Site) -> list[str]:
    found = [path for path in site.paths() if path != "/robots.txt"]
    site.reset()
    return found


def test_fast_181_to_184_a_minor_cycle_fetches_its_share_and_the_next_one_others(
    forty: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl()
    assert len(asked(forty)) == 41, "the first cycle is one from scratch"
    run = workspace.crawl().run
    first = asked(forty)
    assert len(first) == len(set(first)) in (5, 6), "coverage_min, and the start URL of a new cycle"
    assert sum(run["outcomes"].values()) == run["scheduled"] == len(first)
    workspace.crawl()
    second = asked(forty)
    assert len(second) == 5
    assert set(first) & set(second) <= {"/"}, "by freshness, what was just fetched waits"
    assert len(workspace.search("words")) == 41


def test_fast_183_coverage_min_changes_how_many_are_fetched(
    forty: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, coverage_min=20)
    workspace.crawl()
    asked(forty)
    workspace.crawl()
    assert len(asked(forty)) in (20, 21)


@pytest.mark.parametrize(("quota", "found"), [(80, 1), (20, 4)])
def test_fast_182_new_urls_have_their_share_and_the_others_wait(
    forty: Site, url: str, workspace: Workspace, quota: int, found: int
) -> None:
    define(workspace, url, refresh_quota=quota)
    workspace.crawl()
    forty.change("/", links=[*PAGES, *(f"/new/{number}" for number in range(10))])
    for number in range(10):
        forty.page(f"/new/{number}", title="New", text="words")
    asked(forty)
    workspace.crawl()
    assert sum(path.startswith("/new/") for path in asked(forty)) == found
    waiting = [path for path, outcome in workspace.outcomes().items() if outcome == "QUEUED"]
    assert len(waiting) == 10 - found
    run = workspace.crawl().run
    assert run["resumed"] is False, "what waits for its share does not keep a cycle from ending"
    assert sum(path.startswith("/new/") for path in asked(forty)) == found


def test_after_a_change_of_the_definition_and_by_force_every_known_url_is_asked_for(
    forty: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    workspace.crawl()
    asked(forty)
    workspace.crawl("--force")
    assert len(asked(forty)) == 41, "ultra_search_23"
    refresh = {"mode": "adaptive", "interval": "24 h", "adaptive": {"coverage_min": 5}}
    workspace.define(f"{url}/", refresh=refresh, sitemaps={"use": False}, default_language="de")
    assert workspace.crawl().run["outcomes"] == {"REINDEXED": 41}
    asked(forty)
    workspace.crawl()
    assert len(asked(forty)) in (5, 6)


def test_fast_190_changefreq_of_a_sitemap_decides_who_is_fetched(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=PAGES[:20], text="words")
    for path in PAGES[:20]:
        site.page(path, title=path, text="words", modified=False)
    entries = "".join(
        f"<url><loc>{url}/{number}</loc><changefreq>{'hourly' if number in (7, 13) else 'never'}</changefreq></url>"
        for number in range(20)
    )
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    site.file("/sitemap.xml", body.encode(), "application/xml")
    weights = {"change_history": 0, "inverse_depth": 0, "is_landing_page": 0, "inverse_length": 0}
    adaptive = {"coverage_min": 2, "coverage_max_pct": 0, "aim": "score", "weights": weights}
    workspace.define(f"{url}/", refresh={"mode": "adaptive", "interval": "24 h", "adaptive": adaptive})
    workspace.crawl()
    site.reset()
    workspace.crawl()
    fetched = {path for path in site.paths() if path.strip("/").isdigit()}
    assert fetched == {"/7", "/13"}


def test_fast_182_a_resumed_minor_cycle_goes_on_with_what_is_left_of_its_share(
    forty: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, refresh_quota=0, coverage_min=6)
    workspace.crawl()
    forty.change("/", links=[*PAGES, "/new/0"])
    for number in range(20):
        forty.page(f"/new/{number}", title="New", text="words", links=[f"/new/{number + 1}"])
    asked(forty)
    definition = workspace.directory / "ultracrawl.yaml"
    whole = definition.read_text()
    definition.write_text(whole.replace("retries:", "pages: 10\n      retries:"))
    assert workspace.crawl().run["fetched"] == 10
    definition.write_text(whole)
    assert workspace.crawl().run["resumed"] is True
    found = [path for path in asked(forty) if path.startswith("/new/")]
    assert len(found) == 6, "the share of one minor cycle, although two crawls held it"


@pytest.mark.parametrize("trust", [True, False])
def test_fast_190_a_page_that_changed_by_its_sitemap_is_fetched_in_the_next_minor_cycle(
    site: Site, url: str, workspace: Workspace, trust: bool
) -> None:
    site.page("/", title="Home", links=PAGES[:20], text="words")
    for path in PAGES[:20]:
        site.page(path, title=path, text="words", modified=False)
    weights = {"change_history": 0, "inverse_depth": 0, "is_landing_page": 0, "inverse_length": 0}
    adaptive = {"coverage_min": 2, "coverage_max_pct": 0, "aim": "score", "weights": weights}
    refresh = {"mode": "adaptive", "interval": "24 h", "adaptive": adaptive}
    workspace.define(f"{url}/", refresh=refresh, sitemaps={"trust_lastmod": trust})
    workspace.crawl()
    soon = (datetime.now(UTC) + timedelta(seconds=50)).isoformat()
    entries = "".join(f"<url><loc>{url}/{number}</loc><lastmod>{soon}</lastmod></url>" for number in (18, 19))
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    site.file("/sitemap.xml", body.encode(), "application/xml")
    workspace.crawl()
    site.reset()
    workspace.crawl()
    fetched = {path for path in site.paths() if path.strip("/").isdigit()}
    assert (fetched == {"/18", "/19"}) is trust


def test_removed_urls_take_no_place_in_a_minor_cycle(forty: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url)
    workspace.crawl()
    removed = [f"{url}{path}" for path in PAGES[:30]]
    workspace.command("approve", "site", "--remove", *removed)
    asked(forty)
    workspace.crawl()
    assert len(asked(forty)) in (5, 6)
