"""Who has the place of a content in the index: while it is to leave, while it waits, and after a kill."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from support import files
from support.crawled import CrawledProjects
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

STORY = "a heron stands in the shallow water and waits for a fish that does not come "
OTHERS = [f"/p{number}" for number in range(30)]


def fill(site: Site, *copies: str, others: int = 0) -> None:
    """Put one story at several paths, other pages beside them, and links to all at the start page."""
    for path in copies:
        site.page(path, title="Heron", text=STORY)
    for path in OTHERS[:others]:
        site.page(path, title=path, text=f"needle {path}")
    site.page("/", title="Start", links=[*copies, *OTHERS[:others]], text="where everything begins")


@pytest.fixture
def held_back(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """A survivor and twenty other pages that are gone, more than may leave at once; the copy of it is there."""
    fill(site, "/heron", "/print/heron", others=30)
    workspace.define(f"{url}/")
    crawled_projects.crawl(workspace, site)
    site.remove("/heron")
    for path in OTHERS[:20]:
        site.remove(path)
    run = crawled_projects.crawl(workspace, site, code=1).run
    assert "20 of 32 would be deleted" in run["problems"][0], "a document with a successor is not lost"
    assert sum(run["outcomes"].values()) == run["scheduled"]
    return site


def test_a_successor_waits_as_long_as_the_guard_holds_deletions_back(
    held_back: Site, workspace: Workspace
) -> None:
    assert workspace.search("shallow") == ["/heron"]
    rows = workspace.urls()
    assert rows["/heron"]["leaving"] == "GONE: not found"
    assert rows["/print/heron"]["outcome"] == "DUPLICATE"
    assert rows["/print/heron"]["reason"].startswith("replaces ")
    workspace.crawl(code=1)
    assert workspace.search("shallow") == ["/heron"], "and as long as another run does"
    held_back.reset()
    workspace.command("approve-deletions", "site")
    assert workspace.search("shallow") == ["/print/heron"]
    assert held_back.paths() == [], "its document was at hand"
    row = workspace.urls()["/print/heron"]
    assert (row["outcome"], row["status_code"], row["indexed"]) == ("NEW", 200, True)
    again = workspace.crawl().run
    assert "MODIFIED" not in again["outcomes"]
    assert workspace.search("shallow") == ["/print/heron"]


def test_a_survivor_that_comes_back_keeps_its_place(held_back: Site, workspace: Workspace) -> None:
    held_back.page("/heron", title="Heron", text=STORY)
    workspace.crawl(code=1)
    workspace.command("approve-deletions", "site")
    assert workspace.search("shallow") == ["/heron"]
    assert workspace.urls()["/print/heron"]["duplicate_of"].endswith("/heron")


def test_discarded_deletions_leave_the_survivor_in_its_place(held_back: Site, workspace: Workspace) -> None:
    workspace.command("approve-deletions", "site", "--discard")
    assert workspace.search("shallow") == ["/heron"]
    workspace.command("approve-deletions", "site")
    assert workspace.search("shallow") == ["/heron"]


def test_a_waiting_successor_that_goes_itself_is_replaced(held_back: Site, workspace: Workspace) -> None:
    held_back.page("/third/heron", title="Heron", text=STORY)
    held_back.page("/", title="Start", links=["/print/heron", "/third/heron"], text="another beginning")
    workspace.crawl(code=1)
    held_back.remove("/print/heron")
    workspace.crawl(code=1)
    assert workspace.search("shallow") == ["/heron"]
    workspace.command("approve-deletions", "site")
    assert workspace.search("shallow") == ["/third/heron"]


def test_a_successor_takes_the_place_in_the_run_that_deletes(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.remove("/heron")
    run = workspace.crawl().run
    assert (run["deleted"], run["indexed"]) == (1, 1)
    assert run["outcomes"] == {"GONE": 1, "NEW": 1, "NOT_MODIFIED": 1, "DUPLICATE": 1}
    assert sum(run["status_codes"].values()) == sum(run["outcomes"].values()) == run["scheduled"]
    assert workspace.search("shallow") == ["/print/heron"]


@pytest.mark.parametrize("best_first", [True, False], ids=["the best first", "the best last"])
def test_one_error_page_for_all_does_not_empty_the_index(
    site: Site, url: str, workspace: Workspace, best_first: bool
) -> None:
    fill(site, others=30)
    ranked = sorted(OTHERS, key=lambda path: (len(path), path), reverse=not best_first)
    site.page("/", title="Start", links=ranked, text="where everything begins")
    workspace.define(f"{url}/", modification={"percent": 100})
    workspace.crawl()
    for path in OTHERS:
        site.page(path, title="Maintenance", text="we are back soon")
    run = workspace.crawl(code=1).run
    assert "(29 DUPLICATE)" in run["problems"][0]
    assert len(workspace.search("needle")) == 29
    for path in OTHERS:
        site.page(path, title=path, text=f"needle {path}")
    assert workspace.crawl().run["problems"] == []
    assert len(workspace.search("needle")) == 30


def test_of_two_that_change_to_the_same_the_better_has_the_place_after_the_next_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/long/heron", title="Heron", text="a fish that does not come")
    site.page("/heron", title="Heron", text="shallow water")
    site.page("/", title="Start", links=["/long/heron", "/heron"], text="where everything begins")
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": 1})
    workspace.crawl()
    for path in ("/long/heron", "/heron"):
        site.page(path, title="Heron", text=STORY)
    workspace.crawl()
    assert workspace.search("stands") == ["/long/heron"]
    workspace.crawl()
    assert workspace.search("stands") == ["/heron"]


def test_the_copy_of_an_orphan_takes_its_place(site: Site, url: str, workspace: Workspace) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(
        f"{url}/",
        refresh={"mode": "scratch"},
        orphans={"after": 1, "delete": True},
        duplicates={"follow_links": True},
    )
    workspace.crawl()
    site.page("/", title="Start", links=["/print/heron"], text="another beginning")
    for _ in range(3):
        workspace.crawl()
    assert workspace.search("shallow") == ["/print/heron"]


# ---- documents that wait for an approval


def approve(workspace: Workspace, *words: str) -> dict[str, Any]:
    report = workspace.command("approve", "site", "--json", *words).json
    assert isinstance(report, dict)
    return report


@pytest.fixture
def examined(site: Site, url: str, workspace: Workspace) -> Site:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/", crawling_mode="examine")
    return site


def test_one_of_two_equal_documents_waits_for_an_approval(examined: Site, workspace: Workspace) -> None:
    run = workspace.crawl().run
    assert run["outcomes"] == {"PENDING": 2, "DUPLICATE": 1}
    assert run["status_codes"] == {"952": 2, "909": 1}
    again = workspace.crawl().run
    assert again["status_codes"] == {"952": 2, "910": 1}
    assert approve(workspace)["indexed"] == 2
    assert workspace.search("shallow") == ["/heron"]


def test_the_better_url_waits_whichever_came_first(site: Site, url: str, workspace: Workspace) -> None:
    fill(site, "/heron", "/print/heron")
    site.slow("/heron", 0.5, title="Heron", text=STORY)
    workspace.define(f"{url}/", crawling_mode="examine")
    run = workspace.crawl().run
    assert run["outcomes"] == {"PENDING": 2, "DUPLICATE": 1}
    assert approve(workspace)["indexed"] == 2
    assert workspace.search("shallow") == ["/heron"]


def test_a_better_url_found_later_does_not_displace_what_was_approved(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/print/heron")
    workspace.define(f"{url}/", crawling_mode="examine")
    workspace.crawl()
    approve(workspace)
    fill(site, "/heron", "/print/heron")
    workspace.crawl()
    assert workspace.search("shallow") == ["/print/heron"]
    assert workspace.urls()["/heron"]["outcome"] == "DUPLICATE"


def test_the_copy_of_a_document_that_leaves_waits_for_its_approval(
    examined: Site, workspace: Workspace
) -> None:
    workspace.crawl()
    approve(workspace)
    examined.remove("/heron")
    assert workspace.crawl().run["outcomes"]["PENDING"] == 1
    assert workspace.search("shallow") == []
    assert approve(workspace)["indexed"] == 1
    assert workspace.search("shallow") == ["/print/heron"]


def test_approval_of_a_copy_takes_out_the_one_that_is_to_leave(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/heron", "/print/heron", others=30)
    workspace.define(f"{url}/", crawling_mode="examine")
    workspace.crawl()
    approve(workspace)
    for path in ("/heron", *OTHERS[:20]):
        site.remove(path)
    workspace.crawl(code=1)
    assert workspace.search("shallow") == ["/heron"]
    approve(workspace)
    assert workspace.search("shallow") == ["/print/heron"]
    workspace.command("approve-deletions", "site")
    assert workspace.search("shallow") == ["/print/heron"]


def test_after_a_removal_by_hand_the_copy_comes_in_the_next_crawl(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/")
    workspace.crawl()
    approve(workspace, "--remove", f"{url}/heron")
    assert workspace.search("shallow") == []
    workspace.crawl()
    assert workspace.search("shallow") == ["/print/heron"]


# ---- what is made again


def requests_of(site: Site, act: Callable[[], object]) -> list[str]:
    site.reset()
    act()
    return site.paths()


def test_documents_that_wait_are_made_again_and_still_wait(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/heron", "/print/heron")
    workspace.define(f"{url}/", crawling_mode="examine", storage={"keep": True})
    workspace.crawl()
    approve(workspace, f"{url}/")
    assert requests_of(site, lambda: workspace.command("reindex", "site")) == []
    assert workspace.outcomes() == {"/": "REINDEXED", "/heron": "PENDING", "/print/heron": "DUPLICATE"}
    assert (workspace.search("begins"), workspace.search("shallow")) == (["/"], [])
    approve(workspace)
    assert workspace.search("shallow") == ["/heron"]


def test_a_document_that_is_to_leave_is_not_saved_by_making_it_again(
    site: Site, url: str, workspace: Workspace
) -> None:
    fill(site, "/heron", "/print/heron", others=30)
    workspace.define(f"{url}/", storage={"keep": True})
    workspace.crawl()
    for path in ("/heron", *OTHERS[:20]):
        site.remove(path)
    workspace.crawl(code=1)
    assert requests_of(site, lambda: workspace.command("reindex", "site")) == []
    assert workspace.search("shallow") == ["/heron"]
    workspace.command("approve-deletions", "site")
    assert workspace.search("shallow") == ["/print/heron"]


def test_converted_documents_are_compared_and_made_again(site: Site, url: str, workspace: Workspace) -> None:
    paper = files.pdf(["a heron stands in the water"], title="Heron")
    site.page("/", title="Start", links=["/heron.pdf", "/copy/heron.pdf"], text="everything begins")
    site.file("/heron.pdf", paper, "application/pdf")
    site.file("/copy/heron.pdf", paper, "application/pdf")
    workspace.define(f"{url}/", storage={"keep": True})
    assert workspace.crawl().run["status_codes"] == {"200": 2, "909": 1}
    shutil.rmtree(workspace.directory / "var/index")
    assert requests_of(site, lambda: workspace.command("reindex", "site")) == []
    assert workspace.search("stands") == ["/heron.pdf"]


def test_what_filters_make_is_compared_and_made_again(site: Site, url: str, workspace: Workspace) -> None:
    fill(site, "/heron", "/print/heron")
    (workspace.directory / "filter.conf").write_text(
        '<Filter name="e">\nEnumerate fn=enumerate-urls\n</Filter>\n'
        '<Filter name="g">\nGenerate fn=extract-html-text\nGenerate fn=extract-html-meta\n</Filter>\n'
    )
    section = {"file": "filter.conf", "enumeration": "e", "generation": "g"}
    workspace.define(f"{url}/", filters=section, storage={"keep": True})
    assert workspace.crawl().run["status_codes"] == {"200": 2, "909": 1}
    shutil.rmtree(workspace.directory / "var/index")
    assert requests_of(site, lambda: workspace.command("reindex", "site")) == []
    assert workspace.indexed() == ["/", "/heron"]


# ---- kill -9


@pytest.mark.parametrize("after", [15, 30, 41])
@pytest.mark.servers  # much time
def test_a_kill_while_places_change_hands_leaves_one_document_of_each_content(
    site: Site, url: str, workspace: Workspace, after: int
) -> None:
    copies = [f"/c{number}" for number in range(20)]
    for number, path in enumerate(copies):
        for form in (path, f"/print{path}"):
            site.page(form, title=f"Story {number}", text=f"{STORY} number{number} shallow")
    site.page("/", title="Start", links=[*copies, *(f"/print{path}" for path in copies)], text="begins")
    workspace.define(f"{url}/", deletion={"always": 100})
    workspace.crawl()
    for path in copies:
        site.remove(path)
    site.reset()
    process = workspace.start("crawl")
    until(lambda: len(site.requests) >= after, process)
    kill_group(process)
    workspace.crawl()
    assert sorted(workspace.search("shallow")) == sorted(f"/print{path}" for path in copies)
