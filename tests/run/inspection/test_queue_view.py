"""`ultracrawl queue` and `ultracrawl plan`: what is due, in which order and why."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace
from support.sentences import sentence
from support.site import Site


@pytest.fixture
def small(site: Site) -> Site:
    site.page("/", title="Home", links=["/a", "/folder/"], text="words")
    site.page("/a", title="A", text="words")
    site.page("/folder/", title="Folder", text="words")
    return site


def define(workspace: Workspace, url: str, mode: str, **options: Any) -> None:
    refresh = {"mode": mode, **options.pop("refresh", {})}
    workspace.define(f"{url}/", refresh=refresh, sitemaps={"use": False}, **options)


def queue(workspace: Workspace, *words: str) -> dict[str, Any]:
    (source,) = workspace.command("queue", "--json", *words).json["sources"]
    assert isinstance(source, dict)
    return source


def listed(source: dict[str, Any]) -> list[tuple[str, str]]:
    return [("/" + one["url"].split("/", 3)[3], one["why"]) for one in source["urls"]]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("known", [("/", "known URL"), ("/a", "known URL"), ("/folder/", "known URL")]),
        ("scratch", [("/", "start URL")]),
        ("soft", [("/", "start URL")]),
    ],
)
def test_what_the_next_cycle_begins_with_is_what_it_then_asks_for(
    small: Site, url: str, workspace: Workspace, mode: str, expected: list[tuple[str, str]]
) -> None:
    define(workspace, url, mode, refresh={"interval": "24 h"})
    assert listed(queue(workspace)) == [("/", "start URL")], "never crawled"
    workspace.crawl()
    source = queue(workspace, "site")
    assert sorted(listed(source)) == expected
    assert (source["mode"], source["cycle"], source["resumes"], source["waiting"]) == (mode, 1, False, 0)
    assert source["next_cycle_due"] > source["urls"][0]["last_fetched"]
    assert workspace.command("plan", "--json").json["sources"][0]["scheduled"] == len(expected)
    assert len(listed(queue(workspace, "--limit", "1"))) == 1


def test_a_run_that_did_not_end_shows_what_waits(small: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "prepend", limits={"pages": 1})
    workspace.crawl(code=None)
    source = queue(workspace)
    assert (source["resumes"], source["waiting"]) == (True, 2)
    assert listed(source) == [("/a", "waits in this cycle"), ("/folder/", "waits in this cycle")]
    define(workspace, url, "prepend", refresh={"interval": "0.001 s"})
    source = queue(workspace)
    assert source["resumes"] is False
    assert listed(source)[0] == ("/", "start URL")
    assert {why for _, why in listed(source)[1:]} == {sentence("queue.left_by_cycle_before")}


def test_adaptive_scores_are_shown_with_their_parts(small: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "adaptive", refresh={"interval": "24 h", "adaptive": {"aim": "score"}})
    workspace.crawl()
    source = queue(workspace)
    best = source["urls"][0]
    assert listed(source)[0][0] == "/"
    assert best["score"]["inverse_depth"] == 1.0
    assert best["score"]["is_landing_page"] == 1.0
    assert best["score"]["sitemap"] == 0.0
    assert best["rank"] == pytest.approx(best["score"]["total"], abs=0.01)
    assert sum(value for name, value in best["score"].items() if name != "total") == pytest.approx(
        best["score"]["total"], abs=0.001
    )
    assert best["change_interval_seconds"] > 86_400, "its Last-Modified date is years ago"
    shown = workspace.command("queue").out
    assert sentence("queue.among_best_of_site") in shown
    assert "score" in shown
    assert "is_landing_page 1.00" in shown


def test_fast_63_orphans_are_listed_with_what_becomes_of_them(
    small: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, "scratch", orphans={"after": 2})
    workspace.crawl()
    small.change("/", links=["/a"])
    workspace.crawl()
    assert queue(workspace)["orphans"] == []
    define(workspace, url, "scratch", orphans={"after": 1})
    (orphan,) = queue(workspace)["orphans"]
    assert orphan["url"].endswith("/folder/")
    assert (orphan["last_seen_cycle"], orphan["unseen_cycles"]) == (1, 1)
    assert sentence("queue.fetched_at_cycle_end") in workspace.command("queue").out


def test_help_has_examples(workspace: Workspace) -> None:
    ended = workspace.command("queue", "--help")
    assert ended.code == 0
    assert "ultracrawl queue handbook" in ended.out


def test_after_a_change_of_the_definition_every_known_url_is_due(
    small: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, "scratch", limits={"pages": 1})
    workspace.crawl(code=None)
    assert queue(workspace)["resumes"] is True
    define(workspace, url, "scratch", depth=5)
    source = queue(workspace)
    assert (source["resumes"], len(source["urls"])) == (False, 3)
    assert workspace.command("plan", "--json").json["sources"][0]["resumes"] is False
    assert workspace.crawl().run["resumed"] is False


def test_removed_urls_are_not_due(small: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "known")
    workspace.crawl()
    workspace.command("approve", "site", "--remove", f"{url}/a")
    assert [path for path, _ in listed(queue(workspace))] == ["/", "/folder/"]
