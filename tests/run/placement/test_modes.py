"""The three crawling modes (Ultra Search 13.3): accept all, examine before indexing, index only."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from support.project import Workspace, kill_group
from support.sentences import sentence
from support.site import Site
from support.until import some_time, until
from support.verbs import mistyped

from ultracrawl.cli.mistakes import Mistake

Define = Callable[..., None]


@pytest.fixture
def small(site: Site) -> Site:
    site.page("/", title="Home", links=["/a", "/b", "/drafts/x"], text="words home")
    site.page("/a", title="Alpha", links=["/c"], text="words aardvark")
    site.page("/b", title="Beta", text="words badger")
    site.page("/c", title="Gamma", text="words caracal")
    site.page("/drafts/x", title="Draft", text="words draft")
    return site


@pytest.fixture
def define(workspace: Workspace, url: str) -> Define:
    def defined(mode: str | None = None, **options: object) -> None:
        workspace.define(f"{url}/", **({"crawling_mode": mode} if mode else {}), **options)

    return defined


ALL = ["/", "/a", "/b", "/c", "/drafts/x"]


def state_of(workspace: Workspace) -> dict[str, object]:
    (row,) = workspace.command("status", "--json").json["sources"]
    assert isinstance(row, dict)
    return row


def approve(workspace: Workspace, *words: str, code: int = 0) -> dict[str, int]:
    ended = workspace.command("approve", "site", "--json", *words)
    assert ended.code == code, ended.err
    report = json.loads(ended.out)
    assert isinstance(report, dict)
    return report


@pytest.mark.parametrize("mode", [None, "accept-all"])
def test_accept_all_crawls_indexes_and_follows_links__ultra_search_115(
    small: Site, workspace: Workspace, define: Define, mode: str | None
) -> None:
    define(mode)
    assert workspace.crawl().run["outcomes"] == {"NEW": 5}
    assert workspace.indexed() == ALL
    assert state_of(workspace)["state"] == "idle"


def test_examine_follows_links_and_indexes_nothing__ultra_search_116(
    small: Site, workspace: Workspace, define: Define
) -> None:
    define("examine")
    run = workspace.crawl().run
    assert run["outcomes"] == {"PENDING": 5}
    assert run["status_codes"] == {"952": 5}
    assert run["indexed"] == 0
    assert workspace.indexed() == []
    status = state_of(workspace)
    assert (status["state"], status["pending"], status["indexed"]) == ("indexing pending", 5, 0)
    assert sentence("approval.five_wait") in workspace.command("status").out
    listed = workspace.command("approve", "site", "--list", "--json").lines
    assert [row["url"].removeprefix("http://").partition("/")[2] for row in listed] == [
        path[1:] for path in ALL
    ]
    assert {row["status_code"] for row in listed} == {952}


def test_approved_documents_are_indexed_as_they_were_crawled__ultra_search_117(
    small: Site, workspace: Workspace, define: Define
) -> None:
    define("examine")
    workspace.crawl()
    small.reset()
    report = approve(workspace)
    assert (report["indexed"], report["pending"]) == (5, 0)
    assert not small.requests, "documents that were kept are not fetched again"
    assert workspace.indexed() == ALL
    assert workspace.search("aardvark") == ["/a"]
    assert {row["status_code"] for row in workspace.urls().values()} == {200}, "952 turns into 200"
    assert set(workspace.outcomes().values()) == {"NEW"}
    assert state_of(workspace)["state"] == "idle"
    assert approve(workspace)["indexed"] == 0
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 5}, "approved pages are known as they are"


def test_removed_urls_stay_known_and_are_not_queued_again__ultra_search_117(
    small: Site, url: str, workspace: Workspace, define: Define
) -> None:
    define("examine")
    workspace.crawl()
    report = approve(workspace, f"{url}/b", "--remove", "--prefix", f"{url}/drafts/")
    assert (report["removed"], report["deleted"], report["pending"]) == (2, 0, 3)
    assert approve(workspace)["indexed"] == 3
    assert workspace.indexed() == ["/", "/a", "/c"]
    small.change("/a", links=["/c", "/b", "/drafts/x"])
    small.reset()
    run = workspace.crawl("--force").run
    assert run["scheduled"] == 3
    assert small.count("/b") == small.count("/drafts/x") == 0
    row = workspace.urls()["/b"]
    assert (row["status_code"], row["outcome"]) == (955, "REMOVED")
    assert workspace.command("plan", "--json").json["sources"][0]["scheduled"] == 3


@pytest.mark.parametrize("mode", ["known", "append", "prepend", "scratch", "soft", "adaptive"])
def test_removed_urls_are_not_queued_again_in_any_refresh_mode__ultra_search_117(
    small: Site, url: str, workspace: Workspace, mode: str
) -> None:
    workspace.define(f"{url}/", refresh={"mode": mode, "interval": "24 h"}, sitemaps={"use": False})
    workspace.crawl()
    small.redirect("/c", "/b")
    approve(workspace, f"{url}/b", "--remove")
    small.reset()
    for _ in range(2):
        workspace.crawl()
    assert small.count("/") >= 1
    assert small.count("/b") == 0
    assert workspace.outcomes()["/b"] == "REMOVED"
    assert "/b" not in workspace.indexed()


@pytest.mark.parametrize("mode", ["known", "scratch", "adaptive"])
def test_restored_urls_are_fetched_by_the_next_crawl_in_any_refresh_mode(
    small: Site, url: str, workspace: Workspace, mode: str
) -> None:
    workspace.define(f"{url}/", refresh={"mode": mode, "interval": "24 h"}, sitemaps={"use": False})
    workspace.crawl()
    approve(workspace, f"{url}/b", "--remove")
    small.change("/", links=["/a"])
    workspace.crawl()
    approve(workspace, f"{url}/b", "--restore")
    small.reset()
    workspace.crawl()
    assert small.count("/b") == 1
    assert "/b" in workspace.indexed()


def test_removed_urls_survive_a_boundary_that_leaves_them_out_for_a_while(
    small: Site, url: str, workspace: Workspace, define: Define
) -> None:
    define("examine")
    workspace.crawl()
    approve(workspace, "--remove", f"{url}/b")
    host = url.split("//")[1].partition(":")[0]
    define("examine", boundary={"paths": {host: {"exclude": ["/b"]}}})
    workspace.crawl()
    define("examine")
    small.reset()
    workspace.crawl()
    assert small.count("/b") == 0
    assert workspace.outcomes()["/b"] == "REMOVED"


def test_an_indexed_document_that_is_removed_leaves_the_index_and_can_come_back(
    small: Site, url: str, workspace: Workspace, define: Define
) -> None:
    define()
    workspace.crawl()
    report = approve(workspace, "--remove", "--regexp", ".*/(a|b)")
    assert (report["removed"], report["deleted"]) == (2, 2)
    assert workspace.indexed() == ["/", "/c", "/drafts/x"]
    assert approve(workspace, "--restore", f"{url}/a")["restored"] == 1
    run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": 1, "NOT_MODIFIED": 3}
    assert workspace.indexed() == ["/", "/a", "/c", "/drafts/x"]


def test_some_of_the_waiting_documents_can_be_approved(
    small: Site, url: str, workspace: Workspace, define: Define
) -> None:
    define("examine")
    workspace.crawl()
    report = approve(workspace, f"{url}/a", f"{url.upper().replace('HTTP', 'http')}/b#part")
    assert (report["indexed"], report["pending"]) == (2, 3)
    assert workspace.indexed() == ["/a", "/b"]
    assert state_of(workspace)["state"] == "indexing pending"


def test_a_later_examining_crawl_keeps_waiting_documents_up_to_date(
    small: Site, workspace: Workspace, define: Define
) -> None:
    define("examine")
    workspace.crawl()
    small.change("/a", text="words antelope")
    small.gone("/b")
    small.change("/c", robots="noindex")
    small.respond("/drafts/x", status=503)
    run = workspace.crawl().run
    assert run["outcomes"] == {"GONE": 1, "HTTP_ERROR": 1, "NOT_INDEXED": 1, "PENDING": 2}
    assert state_of(workspace)["pending"] == 3
    assert approve(workspace)["indexed"] == 3
    assert workspace.indexed() == ["/", "/a", "/drafts/x"], "an error takes nothing away"
    assert workspace.search("antelope") == ["/a"]
    assert workspace.search("aardvark") == []


def test_what_is_in_the_index_stays_until_its_new_version_is_approved(
    small: Site, workspace: Workspace, define: Define
) -> None:
    define()
    workspace.crawl()
    define("examine")
    small.change("/a", text="words antelope")
    small.gone("/b")
    run = workspace.crawl().run
    assert run["outcomes"] == {"GONE": 1, "NOT_MODIFIED": 3, "PENDING": 1}
    assert workspace.search("aardvark") == ["/a"]
    assert workspace.search("badger") == [], "what is gone leaves the index in every mode"
    approve(workspace)
    assert workspace.search("aardvark") == []
    assert workspace.search("antelope") == ["/a"]
    assert workspace.outcomes()["/a"] == "MODIFIED"


def test_force_makes_unchanged_pages_wait_again(small: Site, workspace: Workspace, define: Define) -> None:
    define("examine")
    workspace.crawl()
    approve(workspace)
    run = workspace.crawl("--force").run
    assert run["outcomes"] == {"PENDING": 5}
    assert len(workspace.indexed()) == 5
    assert approve(workspace)["indexed"] == 5
    assert workspace.indexed() == ALL


@pytest.mark.parametrize("mode", ["accept-all", "index-only"])
def test_a_mode_that_indexes_takes_what_waits(
    small: Site, workspace: Workspace, define: Define, mode: str
) -> None:
    define("examine")
    workspace.crawl()
    define(mode)
    run = workspace.crawl().run
    assert run["outcomes"] == {"NOT_MODIFIED": 5}
    assert run["indexed"] == 5
    assert workspace.indexed() == ALL


def test_index_only_indexes_and_follows_no_links__ultra_search_119(
    small: Site, workspace: Workspace, define: Define
) -> None:
    define("examine", depth=1)
    workspace.crawl()
    define("index-only", depth=2)
    small.change("/a", links=["/c", "/b"], text="words antelope")
    run = workspace.crawl().run
    assert small.count("/c") == 0
    assert run["rejected_by"] == {"crawling_mode index-only": 1}
    assert workspace.indexed() == ["/", "/a", "/b", "/drafts/x"]
    assert workspace.search("antelope") == ["/a"]
    run = workspace.crawl("--force").run
    assert run["outcomes"] == {"REINDEXED": 4}
    assert small.count("/c") == 0


def test_links_left_by_index_only_are_followed_in_a_later_mode__ultra_search_119(
    small: Site, workspace: Workspace, define: Define
) -> None:
    define("index-only")
    assert workspace.crawl().run["outcomes"] == {"NEW": 1}, "start URLs are known"
    define("accept-all")
    workspace.crawl()
    assert workspace.indexed() == ALL
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 5}


def test_index_only_follows_redirects_of_known_urls(
    small: Site, workspace: Workspace, define: Define
) -> None:
    define()
    workspace.crawl()
    define("index-only")
    small.redirect("/b", "/b2")
    small.page("/b2", title="Beta", links=["/new"], text="words badger")
    small.page("/new", title="New", text="words new")
    workspace.crawl()
    assert workspace.search("badger") == ["/b2"]
    assert small.count("/new") == 0


def test_entries_of_sitemaps_lead_to_nothing_new_in_index_only__ultra_search_119(
    small: Site, workspace: Workspace, define: Define
) -> None:
    small.sitemap("/sitemap.xml", ["/a", "/only-listed"])
    small.page("/only-listed", title="Listed", text="words listed")
    define("index-only")
    workspace.crawl()
    assert workspace.indexed() == ["/"]
    define("accept-all")
    workspace.crawl()
    assert "/only-listed" in workspace.indexed()


def test_documents_that_wait_hold_their_display_url(
    site: Site, url: str, workspace: Workspace, define: Define
) -> None:
    site.page("/", title="Home", links=["/old"])
    site.redirect("/old", "/new", status=302)
    site.page("/new", title="New", text="words new")
    define(
        "examine", politeness={"delay": 0, "concurrency": 1}
    )  # of two answers the first would take the URL
    workspace.crawl()
    site.page("/old", title="Old", text="words old")
    assert set(workspace.crawl().run["outcomes"]) == {"PENDING"}
    assert approve(workspace)["indexed"] == 3, "the redirect is none any more, and gives its URL back"
    assert workspace.indexed() == ["/", "/new", "/old"]
    assert workspace.search("new") == ["/new"]


@pytest.mark.servers  # much time
def test_killed_between_crawl_and_approve_nothing_is_lost(
    small: Site, url: str, workspace: Workspace, define: Define
) -> None:
    small.slow("/b", 30.0)
    define("examine", politeness={"delay": 0, "concurrency": 2})
    process = workspace.start("crawl")
    until(lambda: small.count("/b") and state_of(workspace)["pending"] == 4, process)
    kill_group(process)
    assert state_of(workspace)["pending"] == 4
    small.page("/b", title="Beta", text="words badger")
    small.reset()
    workspace.crawl()
    assert small.count("/a") == 0, "what was kept before the kill is not fetched again"
    assert approve(workspace)["indexed"] == 5
    assert workspace.indexed() == ALL


@pytest.mark.servers  # much time
def test_killed_while_it_approves_nothing_is_lost(
    site: Site, url: str, workspace: Workspace, define: Define
) -> None:
    pages = [f"/{number}" for number in range(300)]
    site.page("/", title="Home", links=pages, text="words")
    for page in pages:
        site.page(page, title=page, text="words " * 200)
    define("examine")
    workspace.crawl()
    site.reset()
    killed = 0
    for wait in (0.1, 0.2, 0.3, 0.45, 0.6, 0.75):
        process = workspace.start("approve", "site")
        some_time(wait)
        killed += process.poll() is None
        kill_group(process)
    assert killed, "all of them were faster than their kill"
    approve(workspace)
    assert len(workspace.indexed()) == 301
    assert len(set(workspace.indexed())) == 301
    status = state_of(workspace)
    assert (status["indexed"], status["pending"], status["state"]) == (301, 0, "idle")
    assert not site.requests


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        pytest.param([], Mistake.NEVER_CRAWLED, id="never-crawled"),
        pytest.param(["--remove"], Mistake.EVERYTHING_MEANT, id="remove-everything"),
        pytest.param(["--restore"], Mistake.EVERYTHING_MEANT, id="restore-everything"),
        pytest.param(["--list", "--remove"], Mistake.EXCLUDE_EACH_OTHER, id="two-at-once"),
    ],
)
def test_what_cannot_be_approved(
    workspace: Workspace, define: Define, words: list[str], mistake: Mistake
) -> None:
    define("examine")
    assert mistyped(workspace.directory, "approve", "site", *words).mistake is mistake


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ["http://x.example/"], sentence("approval.does_not_wait_approval"), id="approve-unknown"
        ),
        pytest.param(["--remove", "http://x.example/"], "is not known", id="remove-unknown"),
        pytest.param(["--restore", "http://x.example/"], "was not removed", id="restore-unknown"),
        pytest.param(["--regexp", "(a"], "(a", id="bad-expression"),
    ],
)
def test_urls_that_cannot_be_meant_change_nothing(
    small: Site, workspace: Workspace, define: Define, words: list[str], message: str
) -> None:
    define("examine")
    workspace.crawl()
    ended = workspace.command("approve", "site", *words)
    assert ended.code == 2, ended.err
    assert message in ended.err
    assert state_of(workspace)["pending"] == 5
