"""Limits of a run, refresh-only mode and traps, in real crawls."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from support.project import Workspace
from support.site import Site


def chain(site: Site, number: int) -> None:
    """Make a site of many pages, each linking to the next two."""
    for at in range(number):
        links = [f"/{one}" for one in (at + 1, at + 2) if one < number]
        site.page("/" if at == 0 else f"/{at}", title=str(at), text=f"needle {at}", links=links)


LIMITS: dict[str, tuple[dict[str, Any], str]] = {
    "seconds": ({"seconds": 0.5}, "limits.seconds 0.5"),
    "bytes": ({"bytes": 600}, "limits.bytes 600"),
}


@pytest.mark.parametrize(("limits", "rule"), LIMITS.values(), ids=LIMITS)
def test_a_run_ends_and_the_next_one_goes_on(
    site: Site, url: str, workspace: Workspace, limits: dict[str, Any], rule: str
) -> None:
    chain(site, 30)
    slow = {"delay": 0.1, "concurrency": 1}
    workspace.define(f"{url}/", limits=limits, politeness=slow)
    run = workspace.crawl().run
    assert (run["ended_by"], run["problems"]) == (rule, [])
    assert run["fetched"] < 20
    workspace.define(f"{url}/", politeness={"delay": 0})
    again = workspace.crawl().run
    assert (again["resumed"], again["ended_by"]) == (True, None)
    assert len(workspace.search("needle")) == 30


def test_fast_173_174_with_enough_documents_only_known_urls_are_asked_for(
    site: Site, url: str, workspace: Workspace
) -> None:
    chain(site, 5)
    workspace.define(f"{url}/")
    workspace.crawl()
    site.page("/4", title="4", text="needle 4", links=["/new"])
    site.page("/new", title="New", text="needle new")
    workspace.define(f"{url}/", limits={"documents": 5, "documents_slack": 2})
    run = workspace.crawl().run
    assert (run["refresh_only"], run["rejected_by"]) == (True, {"refresh_only": 1})
    assert run["left_out_by"] == "limits.documents 5"
    assert workspace.command("stats", "site", "--json").json["runs"][0]["limit"] == "limits.documents 5"
    assert "limits.documents 5" in workspace.command("status").out
    assert site.count("/new") == 0
    for _ in range(2):
        assert workspace.crawl().run["outcomes"].get("NEW", 0) == 0
    workspace.define(f"{url}/", limits={"documents": 50})
    run = workspace.crawl().run
    assert (run["refresh_only"], site.count("/new")) == (False, 1)
    assert "/new" in workspace.search("needle")


def test_fast_174_new_urls_are_let_in_again_only_below_the_slack_in_whatever_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    paths = [f"/{number}" for number in range(9)]
    site.page("/", title="Home", text="needle", links=[*paths, "/new"])
    for path in [*paths, "/new"]:
        site.page(path, title=path, text=f"needle {path[1:]} and its own words")
    workspace.define(f"{url}/", limits={"documents": 10, "documents_slack": 3}, politeness={"concurrency": 1})
    assert workspace.crawl().run["outcomes"]["NEW"] == 10
    new = []
    for path in paths[:4]:
        site.respond(path, status=404, headers={}, body="")
        workspace.crawl()
        new.append(site.count("/new"))
    assert new == [0, 0, 0, 0], "10, 9, 8 and 7 documents were stored when these runs began"
    workspace.crawl()
    assert site.count("/new") == 1, "6 are fewer than 10 less 3"


def test_fast_171_a_full_disk_keeps_new_urls_out(site: Site, url: str, workspace: Workspace) -> None:
    chain(site, 3)
    workspace.define(f"{url}/", limits={"disk_free": 100})
    run = workspace.crawl(code=None).run
    assert run["refresh_only"] is True
    assert "/1" not in workspace.urls()


def test_an_endless_calendar_is_bounded(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle", links=["/cal?day=0"])
    for day in range(60):
        site.page(f"/cal?day={day}", title=f"Day {day}", text=f"needle {day}", links=[f"/cal?day={day + 1}"])
    workspace.define(f"{url}/", limits={"query_variations": 10})
    run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": 11}
    assert run["rejected_by"] == {"limits.query_variations 10": 1}
    again = workspace.crawl("--force").run
    assert sum(again["outcomes"].values()) == 11, "a second run lets no more in"
    assert again["rejected_by"] == {"limits.query_variations 10": 1}


def test_a_site_with_session_ids_in_its_paths_is_bounded(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle", links=["/s0/x"])
    for number in range(60):
        site.page(f"/s{number}/x", title=f"S{number}", text=f"needle {number}", links=[f"/s{number + 1}/x"])
    workspace.define(f"{url}/", limits={"urls_per_site": 8})
    run = workspace.crawl().run
    assert run["rejected_by"] == {"limits.urls_per_site 8": 1}
    assert len(workspace.urls()) <= 9


def test_a_run_that_kept_new_urls_out_is_resumed(site: Site, url: str, workspace: Workspace) -> None:
    chain(site, 8)
    workspace.define(f"{url}/")
    workspace.crawl()
    site.page("/1", title="1", text="needle 1", links=["/new"])
    site.page("/new", title="New", text="needle new")
    full = {"documents": 5, "documents_slack": 0}
    workspace.define(f"{url}/", limits={"pages": 4, **full})
    assert workspace.crawl().run["rejected_by"] == {"refresh_only": 1}
    planned = workspace.command("plan", "--json").json["sources"][0]
    assert (planned["resumes"], planned["rescan"]) == (True, False)
    run = workspace.crawl().run
    assert (run["resumed"], run["fetched"]) == (True, 4)
    workspace.define(f"{url}/", limits={"documents": 50})
    workspace.crawl()
    assert "/new" in workspace.search("needle")


def test_a_full_source_keeps_to_its_refresh_mode(site: Site, url: str, workspace: Workspace) -> None:
    chain(site, 30)
    refresh = {"mode": "adaptive", "interval": "24 h", "adaptive": {"coverage_min": 5}}
    workspace.define(
        f"{url}/", refresh=refresh, sitemaps={"use": False}, limits={"documents": 30, "documents_slack": 0}
    )
    workspace.crawl()
    site.page("/29", title="29", text="needle", links=["/new"])
    for _ in range(2):
        site.reset()
        planned = workspace.command("plan", "--json").json["sources"][0]
        assert (planned["rescan"], planned["scheduled"]) == (False, 5)
        assert workspace.crawl().run["refresh_only"] is True
        assert len(site.page_paths()) <= 6


def test_the_report_of_a_resumed_run_adds_up(site: Site, url: str, workspace: Workspace) -> None:
    """What was done before the interruption is counted apart, also when there were several."""
    paths = [f"/{number}" for number in range(10)]
    site.page("/", title="Home", text="words", links=[*paths, "/missing"])
    for path in paths:
        site.page(path, title=path, text=f"words {path}")
    before: Counter[str] = Counter()
    for pages in (4, 4, 20):
        workspace.define(f"{url}/", limits={"pages": pages})
        run = workspace.crawl(code=None).run
        assert Counter(run["outcomes_before"]) == before
        before += Counter(run["outcomes"])
        waiting = sum(row["outcome"] == "QUEUED" for row in workspace.urls().values())
        assert sum(run["outcomes"].values()) + waiting == run["scheduled"]
    assert run["resumed"] is True
    assert before == {"NEW": 11, "GONE": 1}
    assert workspace.crawl().run["outcomes_before"] == {}
