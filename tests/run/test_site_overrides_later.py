"""`sites.overrides` in later runs: a resumed one, an entry that changed, conditional requests, what `explain` says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from support.network import NetworkSite
from support.project import Workspace

from ultracrawl.rules.candidates import rules as candidate_rules
from ultracrawl.rules.urls.site_table import SiteTable

ONE, OTHER = "127.0.0.1", "127.0.0.2"
PAGES = [f"/p{number}" for number in range(5)]
Pair = tuple[dict[str, NetworkSite], dict[str, str]]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two sites that are alike, and their URLs, by host."""
    sites = {host: NetworkSite() for host in (ONE, OTHER)}
    for site in sites.values():
        site.page("/", title="Home", links=PAGES)
        for page in PAGES:
            body = f"<title>{page}</title><div id=a>alpha {page}</div><div id=b>beta {page}</div>"
            site.file(page, body.encode(), "text/html")
    with sites[ONE].serve(ONE) as one, sites[OTHER].serve(OTHER) as other:
        yield sites, {ONE: one, OTHER: other}


def define(workspace: Workspace, urls: dict[str, str], overrides: dict[str, Any], **options: Any) -> None:
    workspace.define(
        start_urls=[f"{url}/" for url in urls.values()],
        duplicates={"detect": False},
        sites={"overrides": overrides},
        **options,
    )


def asked(sites: dict[str, NetworkSite]) -> dict[str, list[int]]:
    """Return the statuses of the answers for pages, by host, and forget them."""
    found = {
        host: [one.status for one in site.requests if one.path in ("/", *PAGES)]
        for host, site in sites.items()
    }
    for site in sites.values():
        site.reset()
    return found


def hits(workspace: Workspace, word: str) -> dict[str, int]:
    found = workspace.command("search", "--json", "--as-typed", "--limit", "100", word).json["hits"]
    return {host: sum(f"//{host}:" in hit["url"] for hit in found) for host in (ONE, OTHER)}


def test_a_run_in_parts_counts_the_pages_of_its_site(pair: Pair, workspace: Workspace) -> None:
    sites, urls = pair
    total = {ONE: 0, OTHER: 0}
    for _ in range(8):
        define(workspace, urls, {ONE: {"limits": {"pages_per_site": 3}}}, limits={"pages": 2})
        workspace.crawl(code=None)
        total = {host: total[host] + len(statuses) for host, statuses in asked(sites).items()}
        if sum(total.values()) >= 9:
            break
    assert total == {ONE: 3, OTHER: 6}


def test_an_entry_that_changed_holds_in_the_run_that_is_resumed(pair: Pair, workspace: Workspace) -> None:
    sites, urls = pair
    define(workspace, urls, {}, limits={"pages": 4})
    workspace.crawl(code=None)
    before = asked(sites)
    assert sum(map(len, before.values())) == 4
    define(workspace, urls, {ONE: {"politeness": {"delay": 7}}})
    workspace.crawl()
    times = {host: [one.time for one in sites[host].requests if one.path in PAGES] for host in sites}
    gaps = {host: [b - a for a, b in pairwise(found)] for host, found in times.items()}
    assert gaps[ONE]
    assert min(gaps[ONE]) > 6.9 > max(gaps[OTHER])


def test_a_changed_recipe_makes_documents_of_its_site_anew_only(pair: Pair, workspace: Workspace) -> None:
    sites, urls = pair
    define(workspace, urls, {})
    workspace.crawl()
    asked(sites)
    assert (hits(workspace, "alpha"), hits(workspace, "beta")) == ({ONE: 5, OTHER: 5},) * 2
    define(workspace, urls, {ONE: {"content": {"include": "#a"}}})
    assert workspace.command("plan", "--json").json["sources"][0]["sites_changed"] == [ONE]
    workspace.crawl()
    assert asked(sites) == {ONE: [200] * 6, OTHER: [304] * 6}
    assert (hits(workspace, "alpha"), hits(workspace, "beta")) == ({ONE: 5, OTHER: 5}, {ONE: 0, OTHER: 5})
    workspace.crawl()
    assert asked(sites) == {ONE: [304] * 6, OTHER: [304] * 6}, "an entry that did not change asks for nothing"
    define(workspace, urls, {})
    workspace.crawl()
    assert asked(sites) == {ONE: [200] * 6, OTHER: [304] * 6}, "neither is an entry that went forgotten"
    assert hits(workspace, "beta") == {ONE: 5, OTHER: 5}


def test_an_entry_that_makes_the_same_documents_has_nothing_fetched_again(
    pair: Pair, workspace: Workspace
) -> None:
    sites, urls = pair
    define(workspace, urls, {})
    workspace.crawl()
    asked(sites)
    define(workspace, urls, {ONE: {"politeness": {"delay": 0}, "limits": {"timeout": 9}}})
    assert workspace.command("plan", "--json").json["sources"][0]["sites_changed"] == []
    workspace.crawl()
    assert asked(sites) == {ONE: [304] * 6, OTHER: [304] * 6}


@pytest.mark.parametrize(
    ("whole", "own", "there", "elsewhere"), [(True, False, 200, 304), (False, True, 304, 200)]
)
def test_pages_are_asked_for_conditionally_by_site(
    pair: Pair, workspace: Workspace, whole: bool, own: bool, there: int, elsewhere: int
) -> None:
    sites, urls = pair
    define(workspace, urls, {ONE: {"refresh": {"conditional": own}}}, refresh={"conditional": whole})
    workspace.crawl()
    asked(sites)
    workspace.crawl()
    assert asked(sites) == {ONE: [there] * 6, OTHER: [elsewhere] * 6}


def test_explain_names_the_entry_and_what_it_sets(pair: Pair, workspace: Workspace) -> None:
    _, urls = pair
    port = urls[ONE].rpartition(":")[2]
    overrides = {
        ONE: {"politeness": {"delay": 1}},
        f"{ONE}:{port}": {"limits": {"retries": 1}, "content": {"main": "off"}},
    }
    define(workspace, urls, overrides)
    found = {}
    for host, url in urls.items():
        stages = workspace.command("explain", "--json", f"{url}/").json["decisions"]
        found[host] = [(one["rule"], one["reason"]) for one in stages if one["stage"] == "site"]
    assert [rule for rule, _ in found[ONE]] == [f"sites.overrides.{ONE}:{port}"]
    assert all(option in found[ONE][0][1] for option in ("limits.retries", "content.main"))
    assert found[OTHER] == []


def test_without_an_entry_no_site_is_looked_up(
    pair: Pair, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites, urls = pair
    calls: list[str] = []

    def site_of(url: str) -> str:
        calls.append(url)
        return url

    monkeypatch.setattr(SiteTable, "find", lambda _, site: calls.append(site))
    monkeypatch.setattr(candidate_rules, "site_of", site_of)
    monkeypatch.setattr("ultracrawl.sources.compilation.source.site_of", site_of)
    define(workspace, urls, {})
    workspace.crawl()
    assert asked(sites) == {ONE: [200] * 6, OTHER: [200] * 6}
    assert calls == []
    define(workspace, urls, {"h.example": {"limits": {"retries": 1}}})
    workspace.crawl()
    assert calls, "with an entry they are"
