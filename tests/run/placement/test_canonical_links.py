"""Canonical links that are followed: a page that names another one is its alias, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

FOLLOW: dict[str, Any] = {"duplicates": {"canonical": "follow"}}


def naming(target: str) -> str:
    return f'<link rel="canonical" href="{target}">'


def put(site: Site, path: str, target: str = "", *, text: str = "", **page: Any) -> None:
    """Put a page with a text of its own that names `target` as canonical."""
    word = "word" + "".join(filter(str.isalnum, path))
    site.page(
        path, title=word, text=text or f"{word} stands here", head=naming(target) if target else "", **page
    )


def start(site: Site, *paths: str) -> None:
    site.page("/", title="Start", links=paths, text="where everything begins")


def outcomes(workspace: Workspace, *paths: str) -> list[str]:
    known = workspace.outcomes()
    return [known[path] for path in paths]


def repeat(workspace: Workspace, indexed: list[str], runs: int = 4) -> None:
    """Crawl again and again: nothing changes, and nothing is told as changed from the second repetition on."""
    for number in range(runs):
        run = workspace.crawl().run
        assert workspace.indexed() == indexed
        if number:
            assert not {"NEW", "MODIFIED"} & run["outcomes"].keys(), number
            assert run["deleted"] == 0


def test_a_page_that_names_another_is_its_alias(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/heron")
    put(site, "/print/heron", "/heron")
    put(site, "/heron?sort=up", "/heron")
    start(site, "/print/heron", "/heron?sort=up")
    workspace.define(f"{url}/", **FOLLOW)
    run = workspace.crawl().run
    assert run["outcomes"] == {"DUPLICATE": 2, "NEW": 2}
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert workspace.indexed() == ["/", "/heron"], "found by the canonical link alone"
    row = workspace.urls()["/print/heron"]
    assert (row["outcome"], row["cause"], row["status_code"]) == ("DUPLICATE", "canonical", 909)
    assert row["duplicate_of"] == f"{url}/heron"
    explained = workspace.command("explain", f"{url}/print/heron", "--json").json
    assert explained["record"]["cause"] == "canonical"
    assert {"url": f"{url}/heron", "indexed": True} in explained["duplicates"]
    assert site.count("/print/heron") == 1
    repeat(workspace, ["/", "/heron"])
    assert workspace.crawl().run["status_codes"] == {"304": 2, "910": 2}


def test_by_default_it_is_a_document(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/heron")
    put(site, "/print/heron", "/heron")
    start(site, "/print/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    assert workspace.indexed() == ["/", "/heron", "/print/heron"]


@pytest.mark.parametrize("first", ["/heron", "/print/heron"])
def test_the_order_of_answers_does_not_matter(site: Site, url: str, workspace: Workspace, first: str) -> None:
    for path in ("/heron", "/print/heron"):
        head = naming("/heron")
        if path == first:
            site.page(path, title=path, text=f"text of {path}", head=head)
        else:
            site.slow(path, 0.4, title=path, text=f"text of {path}", head=head)
    start(site, "/heron", "/print/heron")
    workspace.define(f"{url}/", **FOLLOW)
    assert workspace.crawl().run["outcomes"] == {"DUPLICATE": 1, "NEW": 2}
    assert workspace.indexed() == ["/", "/heron"]


def spoil(site: Site, how: str) -> None:
    """Make the page that is named no document."""
    match how:
        case "gone":
            site.respond("/heron", status=404)
        case "failing":
            site.respond("/heron", status=500)
        case "noindex":
            put(site, "/heron", robots="noindex")
        case "disallowed":
            site.robots("User-agent: *\nDisallow: /heron")
        case "language":
            put(site, "/heron", lang="de", text="ein Reiher steht im Wasser")
        case "redirect":
            site.redirect("/heron", "/print/heron")
        case "loop":
            put(site, "/heron", "/print/heron")


HOW = ["gone", "failing", "noindex", "disallowed", "language", "redirect", "loop"]


@pytest.mark.parametrize("how", HOW)
def test_a_target_that_is_no_document_has_no_alias(
    site: Site, url: str, workspace: Workspace, how: str
) -> None:
    put(site, "/heron")
    put(site, "/print/heron", "/heron")
    start(site, "/print/heron", "/heron")
    spoil(site, how)
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl(code=None)
    own = ["/heron"] if how in ("language", "loop") else []
    assert workspace.indexed() == sorted(["/", "/print/heron", *own])
    assert workspace.urls()["/print/heron"]["cause"] == "canonical-kept"
    for _ in range(4):
        run = workspace.crawl(code=None).run
        assert workspace.indexed() == sorted(["/", "/print/heron", *own])
        assert workspace.urls()["/print/heron"]["cause"] == "canonical-kept"
        assert not {"NEW", "MODIFIED"} & run["outcomes"].keys()


@pytest.mark.parametrize("how", ["gone", "noindex", "redirect"])
@pytest.mark.parametrize("number", [1, 3])
def test_all_aliases_come_back_when_their_target_goes_and_leave_when_it_returns(
    site: Site, url: str, workspace: Workspace, how: str, number: int
) -> None:
    aliases = ["/print/heron", *(f"/copy/{each}" for each in range(1, number))]
    put(site, "/heron")
    for path in aliases:
        put(site, path, "/heron")
    others = [f"/other/{each}" for each in range(20)]
    for path in others:
        put(site, path)
    start(site, *aliases, "/heron", *others)
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl()
    assert workspace.indexed() == sorted(["/", "/heron", *others])
    spoil(site, how)
    run = workspace.crawl(code=None).run
    assert sum(run["outcomes"].values()) == run["scheduled"]
    workspace.crawl(code=None)
    # Copies of what the page redirects to now are aliases of that.
    assert workspace.indexed() == sorted(["/", *(aliases[:1] if how == "redirect" else aliases), *others])
    put(site, "/heron")
    for _ in range(3):
        workspace.crawl()
    assert workspace.indexed() == sorted(["/", "/heron", *others])
    repeat(workspace, workspace.indexed(), 3)


@pytest.mark.parametrize("how", ["language", "loop"])
def test_an_alias_is_a_document_once_its_target_is_another_page(
    site: Site, url: str, workspace: Workspace, how: str
) -> None:
    put(site, "/heron")
    put(site, "/print/heron", "/heron")
    others = [f"/other/{each}" for each in range(20)]
    for path in others:
        put(site, path)
    start(site, "/print/heron", "/heron", *others)
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl()
    assert workspace.indexed() == sorted(["/", "/heron", *others])
    spoil(site, how)
    workspace.crawl()
    assert workspace.indexed() == sorted(["/", "/heron", "/print/heron", *others])
    repeat(workspace, workspace.indexed(), 3)


def test_a_changed_target_keeps_its_aliases_without_a_request(
    site: Site, url: str, workspace: Workspace
) -> None:
    put(site, "/heron")
    put(site, "/print/heron", "/heron")
    start(site, "/print/heron", "/heron")
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl()
    for number in range(5):
        site.change("/heron", text=f"version {number} stands here")
        site.reset()
        run = workspace.crawl().run
        assert run["outcomes"] == {"DUPLICATE": 1, "MODIFIED": 1, "NOT_MODIFIED": 1}
        assert site.statuses("/print/heron") == [304]
        assert workspace.indexed() == ["/", "/heron"]


def test_a_chain_ends_at_its_last_page(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/a", "/b")
    put(site, "/b", "/c")
    put(site, "/c", "/d")
    site.redirect("/d", "/e")
    put(site, "/e")
    start(site, "/a")
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl()
    assert workspace.indexed() == ["/", "/e"]
    assert outcomes(workspace, "/a", "/b", "/c") == ["DUPLICATE"] * 3
    repeat(workspace, ["/", "/e"])


def test_a_chain_whose_end_is_gone_ends_before_it(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/a", "/b")
    put(site, "/b", "/c")
    start(site, "/a")
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl(code=None)
    assert workspace.indexed() == ["/", "/b"]
    repeat(workspace, ["/", "/b"])


def test_an_endless_chain_ends(site: Site, url: str, workspace: Workspace) -> None:
    for number in range(60):
        put(site, f"/page/{number}", f"/page/{number + 1}")
    start(site, "/page/0")
    workspace.define(f"{url}/", **FOLLOW, links={"canonical": False})
    workspace.crawl(code=None)
    indexed = workspace.indexed()
    assert len(indexed) == 2
    assert site.count("/page/30") == 0
    repeat(workspace, indexed)


def test_pages_of_a_loop_are_all_documents(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/a", "/b")
    put(site, "/b", "/c")
    put(site, "/c", "/a")
    put(site, "/d", "/a")
    start(site, "/a", "/b", "/c", "/d")
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl()
    assert workspace.indexed() == ["/", "/a", "/b", "/c"]
    repeat(workspace, ["/", "/a", "/b", "/c"])
    site.change("/b", text="another text of b")
    workspace.crawl()
    repeat(workspace, ["/", "/a", "/b", "/c"])


@pytest.mark.parametrize("target", ["/", "/index.html"])
def test_nothing_is_lost_where_every_page_names_the_home_page(
    site: Site, url: str, workspace: Workspace, target: str
) -> None:
    paths = [f"/page/{number}" for number in range(12)]
    for path in paths:
        put(site, path, target)
    site.page("/", title="Start", links=paths, text="where everything begins", head=naming("/"))
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl(code=None)
    assert workspace.indexed() == sorted(["/", *paths])
    repeat(workspace, sorted(["/", *paths]))
    site.change(paths[0], text="another text")
    workspace.crawl(code=None)
    repeat(workspace, sorted(["/", *paths]))


def test_a_target_outside_the_boundary_is_not_asked_for(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/in/heron", "/out/heron")
    put(site, "/out/heron")
    site.page("/in/", title="Start", links=["/in/heron"], text="where everything begins")
    workspace.define(f"{url}/in/", **FOLLOW, only=["/in/"])
    workspace.crawl()
    assert workspace.indexed() == ["/in/", "/in/heron"]
    assert site.count("/out/heron") == 0


def test_documents_become_aliases_when_the_option_is_turned_on(
    site: Site, url: str, workspace: Workspace
) -> None:
    others = [f"/other/{number}" for number in range(20)]
    for path in others:
        put(site, path)
    put(site, "/heron")
    put(site, "/print/heron", "/heron")
    start(site, "/print/heron", "/heron", *others)
    workspace.define(f"{url}/")
    workspace.crawl()
    assert "/print/heron" in workspace.indexed()
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl()
    assert workspace.indexed() == sorted(["/", "/heron", *others])
    repeat(workspace, sorted(["/", "/heron", *others]))
    workspace.define(f"{url}/")
    workspace.crawl()
    assert "/print/heron" in workspace.indexed()


def test_the_guard_keeps_documents_that_would_become_aliases_all_at_once(
    site: Site, url: str, workspace: Workspace
) -> None:
    paths = [f"/page/{number}" for number in range(30)]
    for path in paths:
        put(site, path)
    put(site, "/heron")
    start(site, "/heron", *paths)
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl()
    for path in paths:
        put(site, path, "/heron")
    run = workspace.crawl(code=None).run
    assert run["problems"]
    assert set(paths) <= set(workspace.indexed())


def test_a_page_with_the_text_of_an_alias_is_not_lost(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/heron")
    put(site, "/a", "/heron", text="one text for both")
    site.page("/long/way/b", title="worda", text="one text for both")
    start(site, "/a", "/long/way/b")
    workspace.define(f"{url}/", **FOLLOW)
    workspace.crawl()
    assert workspace.indexed() == ["/", "/heron", "/long/way/b"]
    repeat(workspace, ["/", "/heron", "/long/way/b"])


def test_one_of_aliases_and_target_waits_for_approval(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/heron")
    put(site, "/print/heron", "/heron")
    start(site, "/print/heron")
    workspace.define(f"{url}/", **FOLLOW, crawling_mode="examine")
    workspace.crawl()
    assert outcomes(workspace, "/heron", "/print/heron") == ["PENDING", "DUPLICATE"]
    workspace.command("approve", "site")
    assert workspace.indexed() == ["/", "/heron"]
    repeat(workspace, ["/", "/heron"])


def test_an_approved_document_stays_until_its_target_is_approved(
    site: Site, url: str, workspace: Workspace
) -> None:
    others = [f"/other/{number}" for number in range(20)]
    for path in others:
        put(site, path)
    put(site, "/print/heron")
    start(site, "/print/heron", *others)
    workspace.define(f"{url}/", **FOLLOW, crawling_mode="examine")
    workspace.crawl()
    workspace.command("approve", "site")
    put(site, "/heron")
    put(site, "/print/heron", "/heron")
    workspace.crawl()
    assert "/print/heron" in workspace.indexed()
    assert "/heron" not in workspace.indexed()
    workspace.command("approve", "site")
    workspace.crawl()
    workspace.command("approve", "site")
    workspace.crawl()
    assert workspace.indexed() == sorted(["/", "/heron", *others])


def test_a_limit_that_keeps_the_target_away_loses_nothing(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/a/heron", "/z/heron")
    put(site, "/z/heron")
    start(site, "/a/heron")
    workspace.define(f"{url}/", **FOLLOW, limits={"pages": 2})
    workspace.crawl(code=None)
    assert workspace.indexed() == ["/", "/a/heron"]
    workspace.define(f"{url}/", **FOLLOW)
    for _ in range(3):
        workspace.crawl()
    assert workspace.indexed() == ["/", "/z/heron"]


@pytest.mark.processes
def test_a_page_that_waits_survives_a_kill(site: Site, url: str, workspace: Workspace) -> None:
    put(site, "/print/heron", "/heron")
    site.slow("/heron", 20.0, title="Heron", text="slow heron")
    start(site, "/print/heron")
    workspace.define(f"{url}/", **FOLLOW)
    crawl = workspace.start("crawl")
    until(lambda: site.count("/heron") == 1)
    kill_group(crawl)
    put(site, "/heron")
    workspace.crawl()
    assert workspace.indexed() == ["/", "/heron"]
    repeat(workspace, ["/", "/heron"])
