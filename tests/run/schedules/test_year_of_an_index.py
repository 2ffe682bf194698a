"""A year of launches of one schedule over a site that changes: the index is that of a first crawl of the site."""

from __future__ import annotations

from pathlib import Path

from support.clock import AHEAD
from support.project import DAY, LOOPBACK, Workspace
from support.site import Site

MONTHS = 12


def test_after_a_year_the_kept_index_equals_that_of_a_fresh_crawl(
    site: Site, url: str, workspace: Workspace, tmp_path: Path
) -> None:
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    definition = {
        "sources": {"a": {**source, "sitemaps": {"use": False}, "deletion": {"percent": 100}}},
        "schedules": {"monthly": {"sources": "a", "every": "month"}},
    }
    workspace.write(definition)
    for month in range(MONTHS):
        links = [f"/{number}" for number in range(month, month + 5)]
        site.page("/", title="Home", links=links, text=f"words of month {month}")
        site.page(f"/{month + 4}", title=f"Page {month + 4}", text=f"words of page {month + 4}")
        for number in range(month, month + 4):
            site.page(f"/{number}", title=f"Page {number}", text=f"words of {number} in month {month}")
        if month:
            site.respond(f"/{month - 1}", status=404)
        ahead = {AHEAD: str(month * 31 * DAY)}
        assert workspace.command("schedule", "launch", "monthly", **ahead).code == 0, month
    kept = workspace.indexed(), sorted(workspace.search("month")), sorted(workspace.search("words"))
    fresh = type(workspace)(tmp_path / "fresh")
    fresh.directory.mkdir()
    fresh.write(definition)
    fresh.crawl()
    assert kept == (fresh.indexed(), sorted(fresh.search("month")), sorted(fresh.search("words")))
