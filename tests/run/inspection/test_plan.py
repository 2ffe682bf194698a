"""`ultracrawl plan` says what the next crawl then does, and asks for nothing."""

from __future__ import annotations

from typing import Any

import pytest
from support.crawled import CrawledProjects
from support.named import named
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """A site of seven pages, crawled once."""
    site.page("/", title="Home", links=["/a/1", "/a/2", "/b/1", "/p?sid=1"], text="needle")
    for path in ("/a/1", "/a/2", "/p?sid=1", "/p"):
        site.page(path, title=path, text="needle")
    site.page("/b/1", title="b", text="needle", links=["/b/2"])
    site.page("/b/2", title="b", text="needle")
    workspace.define(f"{url}/")
    crawled_projects.crawl(workspace, site)
    site.reset()
    return site


def plan(workspace: Workspace) -> dict[str, Any]:
    (only,) = workspace.command("plan", "--json").json["sources"]
    assert isinstance(only, dict)
    return only


HOST = "127.0.0.1"
CHANGES: dict[str, tuple[dict[str, Any], dict[str, int], bool]] = {
    "nothing": ({}, {}, False),
    "politeness only": ({"politeness": {"delay": 0, "concurrency": 3}}, {}, False),
    "ultra_search_73 path": (
        {"boundary": {"paths": {HOST: {"exclude": ["/a/"]}}}},
        {"exclude path 127.0.0.1/a/": 2},
        True,
    ),
    "depth": ({"depth": 1}, {"depth 1": 1}, True),
    "extension and uri": (
        {"boundary": {"uris": {"exclude": [{"suffix": "/1"}]}}},
        {"exclude uri suffix /1": 3 - 1},
        True,
    ),
    "canonical form": (
        {"urls": {"normalise": ["session_ids"]}},
        {sentence("plan.urls_another_canonical_form_now"): 1},
        True,
    ),
    "rewriting": (
        {"urls": {"rewrite_rules": ["@/b/@/a/@"]}},
        {sentence("plan.urls_another_canonical_form_now"): 2},
        True,
    ),
    "recipe": ({"default_language": "de"}, {}, True),
}


@pytest.mark.parametrize(("options", "dropped", "rescan"), CHANGES.values(), ids=CHANGES)
def test_the_next_crawl_does_what_the_plan_said(
    crawled: Site,
    url: str,
    workspace: Workspace,
    options: dict[str, Any],
    dropped: dict[str, int],
    rescan: bool,
) -> None:
    workspace.define(f"{url}/", **options)
    before = workspace.urls()
    planned = plan(workspace)
    assert crawled.requests == [], "a plan asks for nothing"
    assert workspace.urls() == before, "a plan changes nothing"
    assert planned["dropped_by"] == dropped
    assert set(planned["stages"]) == set(dropped)
    assert set(planned["stages"].values()) <= {"path", "depth", "uri", "url"}
    assert planned["dropped"] + planned["stays"] == planned["known"] == 6
    assert planned["rescan"] is rescan
    run = workspace.crawl().run
    assert run["deleted"] == planned["deleted"]
    found_anew = {path for path in workspace.urls() if path not in before}
    assert run["scheduled"] == planned["scheduled"] + len(found_anew)
    assert len(workspace.urls()) == planned["stays"] + len(found_anew)
    answers = [request.status for request in crawled.requests if request.path in before]
    assert (304 in answers) is not rescan
    assert plan(workspace)["dropped"] == 0


def test_start_urls_that_would_be_added_and_those_outside(
    crawled: Site, url: str, workspace: Workspace
) -> None:
    options = {"start_urls": [f"{url}/", f"{url}/new", f"{url}/no"]}
    workspace.define(f"{url}/", **options, boundary={"paths": {HOST: {"exclude": ["/no"]}}})
    planned = plan(workspace)
    assert planned["start_urls_added"] == [f"{url}/new"]
    assert planned["start_urls_refused"] == {f"{url}/no": "exclude path 127.0.0.1/no"}
    assert planned["stages"] == {"exclude path 127.0.0.1/no": "path"}
    workspace.crawl()
    assert crawled.count("/new") == 1
    assert crawled.count("/no") == 0


def test_the_host_that_a_start_url_leads_to_stays(site: Site, url: str, workspace: Workspace) -> None:
    other = url.replace("127.0.0.1", "localhost")
    site.redirect("/", f"{other}/home", status=301)
    site.page("/home", title="Home", links=["/a"])
    site.page("/a", title="A")
    boundary = {**LOOPBACK, "start_redirects": True}
    workspace.define(f"{url}/", boundary=boundary)
    workspace.crawl()
    workspace.define(f"{url}/", boundary=boundary, depth=3)
    assert plan(workspace)["dropped_by"] == {}
    (explained,) = workspace.command("explain", f"{other}/new", "--json").lines
    assert explained["accept"], "the host belongs to the source, as the crawl has it"
    assert workspace.crawl().run["rejected_by"] == {}


def test_a_source_that_was_never_crawled(workspace: Workspace) -> None:
    workspace.define("https://a.example/")
    planned = plan(workspace)
    assert (planned["known"], planned["scheduled"], planned["rescan"]) == (0, 1, False)
    assert planned["start_urls_added"] == ["https://a.example/"]
    assert not (workspace.directory / "var").exists()


def test_a_run_that_did_not_end_is_taken_up(crawled: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", limits={"pages": 2})
    workspace.crawl()
    planned = plan(workspace)
    assert (planned["resumes"], planned["scheduled"]) == (True, 4)
    workspace.define(f"{url}/", depth=1)
    planned = plan(workspace)
    assert (planned["resumes"], planned["dropped"], planned["scheduled"]) == (False, 1, 5)


def test_urls_that_are_to_be_forgotten(crawled: Site, url: str, workspace: Workspace) -> None:
    crawled.change("/b/1", links=[])
    crawled.remove("/b/2")
    for _ in range(3):
        workspace.crawl()
    planned = plan(workspace)
    assert (planned["forgotten"], planned["stays"]) == (1, 5)
    assert workspace.crawl().run["scheduled"] == planned["scheduled"] == 5


def test_the_plan_in_words(crawled: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", boundary={"paths": {HOST: {"exclude": ["/a/"]}}})
    text = workspace.command("plan", "site").out
    first, *rows = text.splitlines()[1:] if text.startswith("site\n") else text.splitlines()
    assert {"6", "4"} <= set(named(first))
    assert ("2", "exclude path 127.0.0.1/a/") in [
        (row.split()[0], row.partition(": ")[2]) for row in rows if row.split()
    ]


def test_an_unknown_source_is_one_line(workspace: Workspace) -> None:
    workspace.define("https://a.example/")
    ended = workspace.command("plan", "nobody")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(("only", "held_back"), [("/docs/", True), ("/a/", False)], ids=["none", "some"])
def test_a_boundary_without_a_page_deletes_nothing(
    crawled: Site, url: str, workspace: Workspace, only: str, held_back: bool
) -> None:
    workspace.define(f"{url}/", only=[only])
    planned = plan(workspace)
    assert (planned["deleted"] > 0, planned["held_back"]) == (True, held_back)
    run = workspace.crawl(code=1).run  # the start URL is outside, too
    assert run["deleted"] == (0 if held_back else planned["deleted"])
