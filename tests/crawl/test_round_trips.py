"""How often a crawl asks its store: not once a page, because every statement holds up the event loop."""

from __future__ import annotations

from pathlib import Path

from support.crash import build
from support.project import Workspace
from support.site import Site
from support.statements import OPTIONS, Statements, count_statements, statements_of

PER_100_PAGES = 25
"""Statements that 100 more pages may cost, besides one for each flush; it was 11 to 16 when this was written."""


def crawled(site: Site, url: str, folder: Path, pages: int) -> list[Statements]:
    """Return what two runs over a site ask: one that finds all pages, one that finds them as before."""
    folder.mkdir()
    workspace = Workspace(folder)
    count_statements(folder)
    build(site, pages)
    workspace.define(f"{url}/p0", **OPTIONS)
    found = []
    for outcome in ("NEW", "NOT_MODIFIED"):
        assert workspace.crawl().run["outcomes"][outcome] == pages
        found.append(statements_of(folder))
    return found


def test_no_page_costs_a_statement_of_its_own(site: Site, url: str, tmp_path: Path) -> None:
    small = crawled(site, url, tmp_path / "small", 40)
    large = crawled(site, url, tmp_path / "large", 140)
    for few, many in zip(small, large, strict=True):
        more, flushes = len(many.alone) - len(few.alone), many.transactions - few.transactions
        assert more <= PER_100_PAGES + max(flushes, 0), (more, many.alone)
        assert few.transactions, "what is counted is a store that is written"
