"""What errors do to documents, and the guard in front of the index, in real crawls."""

from __future__ import annotations

from typing import Any

import pytest
from support.crawled import CrawledProjects
from support.named import named
from support.project import DAY, Workspace
from support.site import Site
from support.verbs import mistyped

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.stores.sqlite.database import lock_file

NAMES = [f"/p{number}" for number in range(30)]


@pytest.fixture
def pages(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """A home page and thirty others, all indexed by a first crawl."""
    site.page("/", title="Home", text="needle", links=NAMES)
    for name in NAMES:
        site.page(name, title=name, text=f"needle {name}")
    workspace.define(f"{url}/")
    crawled_projects.crawl(workspace, site)
    return site


def remove(pages: Site, number: int) -> None:
    for name in NAMES[:number]:
        pages.remove(name)


def test_some_pages_that_are_gone_leave_the_index(pages: Site, workspace: Workspace) -> None:
    remove(pages, 10)
    run = workspace.crawl().run
    assert (run["outcomes"]["GONE"], run["deleted"], run["problems"]) == (10, 10, [])
    assert len(workspace.indexed()) == 21


def test_documents_that_were_modified_meanwhile_are_documents(
    pages: Site, url: str, workspace: Workspace
) -> None:
    """The guard measures what is gone by all that was there before the run."""
    remove(pages, 10)
    for name in NAMES[10:]:
        pages.page(name, title=name, text=f"needle changed {name}")
    workspace.define(f"{url}/", deletion={"percent": 50, "always": 0})
    run = workspace.crawl().run
    assert (run["outcomes"]["MODIFIED"], run["deleted"], run["problems"]) == (20, 10, [])


def test_documents_that_are_new_in_the_run_are_not_counted(
    pages: Site, url: str, workspace: Workspace
) -> None:
    remove(pages, 17)
    new = [f"/new{number}" for number in range(40)]
    pages.page("/", title="Home", text="needle", links=[*NAMES, *new])
    for name in new:
        pages.page(name, title=name, text=f"new {name}")
    workspace.define(f"{url}/", deletion={"percent": 50, "always": 0})
    run = workspace.crawl(code=1).run
    assert (run["outcomes"]["NEW"], run["deleted"]) == (40, 0)
    assert named(run["problems"][0])[:2] == ["17", "31"]


def test_many_at_once_are_held_back_until_they_are_approved(pages: Site, workspace: Workspace) -> None:
    remove(pages, 20)
    run = workspace.crawl(code=1).run
    assert (run["outcomes"]["GONE"], run["deleted"]) == (20, 0)
    (problem,) = run["problems"]
    assert named(problem) == ["20", "31", "20", "10", "ultracrawl approve-deletions site"]
    assert len(workspace.search("needle")) == 31, "nothing has left"
    (row,) = workspace.command("status", "--json").json["sources"]
    assert row["leaving"] == 20
    assert "20" in named(workspace.command("status").out)
    assert workspace.urls()["/p0"]["leaving"] == "GONE: not found"
    listed = workspace.command("approve-deletions", "site", "--list", "--json").json
    assert (listed["done"], len(listed["documents"])) == ("leaving", 20)
    done = workspace.command("approve-deletions", "site")
    assert (done.code, named(done.out.splitlines()[0])) == (0, ["20"])
    assert len(workspace.indexed()) == 11
    assert workspace.crawl().run["problems"] == []


def test_pages_that_come_back_stay(pages: Site, workspace: Workspace) -> None:
    remove(pages, 20)
    workspace.crawl(code=1)
    for name in NAMES[:20]:
        pages.page(name, title=name, text=f"needle {name}")
    run = workspace.crawl().run
    assert (run["deleted"], run["problems"]) == (0, [])
    assert len(workspace.search("needle")) == 31
    assert workspace.command("approve-deletions", "site").out.startswith("site: 0 documents")


def test_what_was_held_back_is_not_forgotten_however_often_it_is_gone(
    pages: Site, workspace: Workspace
) -> None:
    remove(pages, 20)
    for _ in range(5):
        workspace.crawl(code=1)
    workspace.command("approve-deletions", "site")
    assert len(workspace.indexed()) == 11


def test_discarding_keeps_documents_until_they_are_gone_again(pages: Site, workspace: Workspace) -> None:
    remove(pages, 20)
    workspace.crawl(code=1)
    assert "20 documents kept" in workspace.command("approve-deletions", "site", "--discard").out
    assert len(workspace.search("needle")) == 31
    assert len(workspace.crawl(code=1).run["problems"]) == 1


GUARDS: dict[str, tuple[dict[str, Any], int]] = {
    "by default": ({}, 0),
    "open": ({"percent": 100}, 20),
    "more percent": ({"percent": 70}, 20),
    "a larger allowance": ({"always": 20}, 20),
    "a smaller one": ({"always": 19}, 0),
}


@pytest.mark.parametrize(("deletion", "deleted"), GUARDS.values(), ids=GUARDS)
def test_the_guard_is_set_by_the_definition(
    pages: Site, url: str, workspace: Workspace, deletion: dict[str, Any], deleted: int
) -> None:
    workspace.define(f"{url}/", deletion=deletion)
    remove(pages, 20)
    assert workspace.crawl(code=None).run["deleted"] == deleted


def test_a_login_page_that_takes_every_place_deletes_nothing(pages: Site, workspace: Workspace) -> None:
    pages.page("/login", title="Login", text="please log in")
    for name in NAMES:
        pages.redirect(name, "/login", status=302)
    run = workspace.crawl(code=1).run
    assert "29 of 31" in run["problems"][0], "one of them has become the login page, which is new"
    assert len(workspace.search("needle")) >= 30


def test_pages_that_moved_one_by_one_are_no_loss(pages: Site, workspace: Workspace) -> None:
    for name in NAMES:
        pages.redirect(name, f"/new{name}", status=301)
        pages.page(f"/new{name}", title=name, text=f"needle {name}")
    run = workspace.crawl().run
    assert run["problems"] == []
    assert workspace.indexed() == sorted(["/", *(f"/new{name}" for name in NAMES)])


def test_a_robots_txt_that_forbids_everything_deletes_nothing(pages: Site, workspace: Workspace) -> None:
    pages.file("/robots.txt", b"User-agent: *\nDisallow: /\n", "text/plain")
    workspace.age(DAY)
    run = workspace.crawl(code=None).run
    assert "31 ROBOTS" in run["problems"][0]
    assert len(workspace.search("needle")) == 31


def test_a_noindex_everywhere_deletes_nothing(pages: Site, workspace: Workspace) -> None:
    for name in NAMES:
        pages.page(name, title=name, text=f"needle {name}", headers={"X-Robots-Tag": "noindex"})
    workspace.crawl(code=1)
    assert len(workspace.search("needle")) == 31
    for name in NAMES:
        pages.page(name, title=name, text=f"needle {name}")
    run = workspace.crawl().run
    assert run["problems"] == [], "the header was withdrawn"
    assert len(workspace.search("needle")) == 31


def test_what_the_definition_itself_takes_out_is_not_held_back(
    pages: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/", boundary={"paths": {"127.0.0.1": {"exclude": ["/p"]}}})
    run = workspace.crawl().run
    assert (run["problems"], workspace.indexed()) == ([], ["/"])


def test_other_types_than_before_are_not_held_back(pages: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", types=["text/plain"])
    run = workspace.crawl(code=1).run  # there is no document left
    assert (run["cause"], len(run["problems"]), workspace.indexed()) == ("type", 1, [])


# ---- errors


def failing(pages: Site, status: int) -> None:
    pages.respond("/p0", status=status, headers={}, body=b"no")


ERRORS: dict[str, tuple[int, dict[str, str] | None, list[tuple[str, bool]]]] = {
    "ultra_search_19-404": (404, None, [("GONE", False)]),
    "ultra_search_22-500": (500, None, [("HTTP_ERROR", True)] * 4),
    "403": (403, None, [("HTTP_ERROR", True)] * 2),
    "404 kept": (404, {"404": "KEEP"}, [("HTTP_ERROR", True)] * 2),
    "fast_136-after so many": (
        503,
        {"5xx": "DELETE:3, RETRY:0"},
        [("HTTP_ERROR", True), ("HTTP_ERROR", True), ("GONE", False)],
    ),
    "fast_138-tries count": (503, {"5xx": "DELETE:3, RETRY:1"}, [("HTTP_ERROR", True), ("GONE", False)]),
    "fast_140-most digits": (503, {"5xx": "DELETE", "503": "KEEP"}, [("HTTP_ERROR", True)] * 2),
    "asked twice before it is gone": (404, {"404": "DELETE:2, RETRY:1"}, [("GONE", False)]),
}


@pytest.mark.parametrize(("status", "rules", "expected"), ERRORS.values(), ids=ERRORS)
def test_errors(
    pages: Site,
    url: str,
    workspace: Workspace,
    status: int,
    rules: dict[str, str] | None,
    expected: list[tuple[str, bool]],
) -> None:
    workspace.define(f"{url}/", **({"errors": {"http": rules}} if rules else {}), limits={"retries": 0})
    failing(pages, status)
    seen = []
    for _ in expected:
        workspace.crawl()
        seen.append((workspace.urls()["/p0"]["outcome"], "/p0" in workspace.indexed()))
    assert seen == expected


def test_fast_138_retries_of_a_rule(pages: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", errors={"http": {"403": "KEEP, RETRY:3"}})
    failing(pages, 403)
    pages.reset()
    workspace.crawl()
    assert pages.count("/p0") == 4


def test_a_good_answer_begins_the_count_anew(pages: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", errors={"http": {"503": "DELETE:3, RETRY:0"}}, limits={"retries": 0})
    for turn in (503, 503, 200, 503, 503):
        if turn == 200:
            pages.page("/p0", title="P0", text="needle again")
        else:
            failing(pages, turn)
        workspace.crawl()
    assert workspace.urls()["/p0"]["outcome"] == "HTTP_ERROR"
    workspace.crawl()
    assert workspace.urls()["/p0"]["outcome"] == "GONE"
    assert "error 3 by rule 503 DELETE:3, RETRY:0" in workspace.urls()["/p0"]["reason"]


def test_fast_138_net_errors_delete_where_a_rule_says_so(pages: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", errors={"http": {"net": "DELETE:2, RETRY:0"}}, limits={"retries": 0})
    pages.raw("/p0", b"")
    workspace.crawl()
    assert "/p0" in workspace.indexed()
    workspace.crawl()
    row = workspace.urls()["/p0"]
    assert (row["outcome"], "/p0" in workspace.indexed()) == ("GONE", False)


MISTAKES = {
    "pattern": ({"40": "KEEP"}, "is no error"),
    "action": ({"404": "DROP"}, "is no action"),
    "twice": ({"4xx": "KEEP", "4XX": "KEEP"}, "is written twice"),
}


@pytest.mark.parametrize(("rules", "problem"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_rules_are_said(
    url: str, workspace: Workspace, rules: dict[str, str], problem: str
) -> None:
    workspace.define(f"{url}/", errors={"http": rules})
    ended = workspace.command("lint")
    assert (ended.code, problem in ended.out) == (2, True)
    assert "ultracrawl.yaml:" in ended.out


def test_the_limit_is_that_of_a_run_however_many_parts_it_has(
    pages: Site, url: str, workspace: Workspace
) -> None:
    remove(pages, 28)
    workspace.define(f"{url}/", limits={"pages": 8})
    runs = [workspace.crawl(code=None).run for _ in range(4)]
    assert [run["resumed"] for run in runs] == [False, True, True, True]
    assert sum(run["deleted"] for run in runs) <= 10, "percent 10, always 10"
    assert "10" in named(runs[-1]["problems"][0])
    assert len(workspace.indexed()) >= 21
    workspace.command("approve-deletions", "site")
    assert len(workspace.indexed()) == 3


def test_what_is_to_leave_is_listed_during_a_crawl(pages: Site, workspace: Workspace) -> None:
    remove(pages, 20)
    workspace.crawl(code=1)
    with lock_file(workspace.directory / "var/state/site.sqlite", "site"):
        listed = workspace.command("approve-deletions", "site", "--list")
        assert (listed.code, named(listed.out.splitlines()[0])) == (0, ["20"])
        refused = workspace.command("approve-deletions", "site")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    both = mistyped(workspace.directory, "approve-deletions", "site", "--list", "--discard")
    assert both.mistake is Mistake.EXCLUDE_EACH_OTHER


@pytest.mark.parametrize("mode", ["append", "scratch", "soft", "adaptive"])
def test_what_was_held_back_is_asked_for_again_in_every_refresh_mode(
    pages: Site, url: str, workspace: Workspace, mode: str
) -> None:
    remove(pages, 20)
    workspace.crawl(code=1)
    for name in NAMES[:20]:
        pages.page(name, title=name, text=f"needle {name}")
    pages.change("/", links=[])
    refresh = {"mode": mode, "interval": "24 h", "adaptive": {"coverage_min": 1}}
    workspace.define(f"{url}/", refresh=refresh, sitemaps={"use": False})
    shown = workspace.command("queue", "--json", "--limit", "50").json["sources"][0]["urls"]
    if mode != "adaptive":
        planned = workspace.command("plan", "--json").json["sources"][0]["scheduled"]
        assert len(shown) == planned == 21
    pages.reset()
    run = workspace.crawl().run
    assert (run["deleted"], run["problems"]) == (0, [])
    assert all(pages.count(name) == 1 for name in NAMES[:20])
    assert len(workspace.search("needle")) == 31
