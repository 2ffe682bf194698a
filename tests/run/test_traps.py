"""Sites that make up URLs without end: each crawl ends, within its bound, and says by which rule."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from support.project import Workspace
from support.server import Reply, Request
from support.site import Site

Links = Callable[[str], list[str]]


def endless(site: Site, links: Links) -> None:
    """Answer every path with a page that links to what `links` makes of it."""

    def answer(request: Request) -> Reply:
        anchors = "".join(f'<a href="{link}">next</a>' for link in links(request.path))
        body = f"<title>{request.path}</title><p>needle {request.path}</p>{anchors}"
        return Reply(200, (("Content-Type", "text/html"),), body.encode())

    site.robots("")
    site.dynamic("/*", answer)


def calendar(path: str) -> list[str]:
    day = int(path.partition("day=")[2] or 0)
    return [f"/cal?day={day - 1}", f"/cal?day={day + 1}"]


def dated_folders(path: str) -> list[str]:
    number = int(path.strip("/").replace("/", "") or 0) + 1
    return [f"/{number // 100}/{number // 10 % 10}/{number % 10}"]


def repeated_folders(path: str) -> list[str]:
    return [f"{path.rstrip('/')}/a/b", f"{path.rstrip('/')}/a/c"]


def session_in_path(_: str) -> list[str]:
    return [f"/s{random.randrange(10**9)}/home", f"/s{random.randrange(10**9)}/list"]


def session_in_query(path: str) -> list[str]:
    page = path.partition("?")[0]
    return [f"{page}?sid={random.randrange(10**9)}", f"/other?sid={random.randrange(10**9)}"]


def facets(path: str) -> list[str]:
    """Shop filters that can be combined at will, in any order."""
    chosen = [part for part in path.partition("?")[2].split("&") if part]
    others = [f"f{number}=1" for number in range(12) if f"f{number}=1" not in chosen]
    return [f"/shop?{'&'.join([*chosen, *pair])}" for pair in combinations(others, 1)]


TRAPS: dict[str, tuple[Links, dict[str, Any], str, int]] = {
    "calendar in the query": (calendar, {"query_variations": 20}, "limits.query_variations 20", 21),
    "calendar in the path": (dated_folders, {"urls_per_site": 25}, "limits.urls_per_site 25", 26),
    "session ids in the path": (session_in_path, {"urls_per_site": 25}, "limits.urls_per_site 25", 26),
    "session ids in the query": (
        session_in_query,
        {"query_variations": 10},
        "limits.query_variations 10",
        30,
    ),
    "combined filters": (facets, {"query_variations": 40}, "limits.query_variations 40", 41),
}


@pytest.mark.parametrize(("links", "limits", "rule", "most"), TRAPS.values(), ids=TRAPS)
def test_an_endless_site_is_bounded_and_reported(
    site: Site,
    url: str,
    workspace: Workspace,
    links: Links,
    limits: dict[str, Any],
    rule: str,
    most: int,
) -> None:
    endless(site, links)
    workspace.define(f"{url}/", limits=limits, log={"screened": True}, sitemaps={"use": False})
    run = workspace.crawl().run
    assert run["outcomes"]["NEW"] == run["scheduled"] == len(workspace.urls()) <= most
    assert list(run["rejected_by"]) == [rule]
    excluded = workspace.command("screened", "--json").lines
    assert {line["rule"] for line in excluded} == {rule}
    explained = workspace.command("explain", excluded[0]["url"], "--json").lines[0]
    assert not explained["accept"]
    assert [one["rule"] for one in explained["decisions"] if not one["accept"]] == [rule]
    known = set(workspace.urls())
    again = workspace.crawl("--force").run
    assert again["scheduled"] == len(known), "and the next run lets no more in"
    assert set(workspace.urls()) == known


def test_an_endless_path_is_bounded_by_default(site: Site, url: str, workspace: Workspace) -> None:
    endless(site, lambda path: repeated_folders(path) if path.count("/") < 40 else [])
    workspace.define(
        f"{url}/",
        limits={"urls_per_site": 3000, "trap_pages": None},
        depth=8,
        log={"screened": True},
        sitemaps={"use": False},
    )
    run = workspace.crawl().run
    rules = list(run["rejected_by"])
    assert any("repeat" in rule or "recursion" in rule for rule in rules), rules
    longest = max(workspace.urls(), key=len)
    assert longest.count("/a/b") <= 8
    assert "/a/b" * 7 not in longest
    screened = {line["rule"] for line in workspace.command("screened", "--json").lines}
    assert screened == set(rules)


def test_only_one_path_that_repeats_itself_ends_after_five_repetitions(
    site: Site, url: str, workspace: Workspace
) -> None:
    endless(site, lambda path: [f"{path.rstrip('/')}/a/b"])
    workspace.define(f"{url}/", sitemaps={"use": False})
    run = workspace.crawl().run
    assert sorted(workspace.urls(), key=len)[-1] == "/a/b" * 5
    assert (run["outcomes"], sum(run["rejected_by"].values())) == ({"NEW": 6}, 1)


def test_filters_in_another_order_are_one_url_where_parameters_are_sorted(
    site: Site, url: str, workspace: Workspace
) -> None:
    endless(site, lambda path: [link for link in facets(path) if "f3" not in link and "f4" not in link][:3])
    workspace.define(f"{url}/", urls={"normalise": ["query_order"]}, sitemaps={"use": False})
    workspace.crawl()
    chosen = [path.partition("?")[2].split("&") for path in workspace.urls()]
    assert len(chosen) > 5
    assert len({frozenset(query) for query in chosen}) == len(chosen), "no combination is fetched twice"


def test_session_parameters_that_are_removed_leave_the_pages_themselves(
    site: Site, url: str, workspace: Workspace
) -> None:
    endless(site, session_in_query)
    workspace.define(f"{url}/", urls={"remove_params": ["sid"]}, sitemaps={"use": False})
    run = workspace.crawl().run
    assert (sorted(workspace.urls()), run["outcomes"]) == (["/", "/other"], {"NEW": 2})


@pytest.mark.parametrize("aliases", [True, False])
def test_a_site_that_mirrors_itself_on_another_host(site: Site, workspace: Workspace, aliases: bool) -> None:
    with site.serve("127.0.0.21") as one, site.serve("127.0.0.22", int(one.rpartition(":")[2])) as two:
        pages = [f"/{number}" for number in range(8)]
        both = [f"{host}{path}" for host in (one, two) for path in ("/", *pages)]
        for path in ("/", *pages):
            site.page(path, title=path, text=f"needle {path}", links=both)
        options: dict[str, Any] = {"sites": {"aliases": {"127.0.0.22": "127.0.0.21"}}} if aliases else {}
        workspace.define(
            f"{one}/", boundary={"domains": {"include": ["127.0.0.21", "127.0.0.22"]}}, **options
        )
        run = workspace.crawl().run
    assert run["outcomes"] == ({"NEW": 9} if aliases else {"NEW": 9, "DUPLICATE": 9}), "each page once a host"
    hosts = {request.header("Host").partition(":")[0] for request in site.requests}
    assert hosts == ({"127.0.0.21"} if aliases else {"127.0.0.21", "127.0.0.22"})
