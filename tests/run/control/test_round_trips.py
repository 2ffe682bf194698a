"""How often a crawl asks its store: not once a page, because every statement holds up the event loop."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.crash import build
from support.project import Workspace
from support.site import Site
from support.statements import OPTIONS, Statements, count_statements, statements_of

pytestmark = pytest.mark.processes

PER_100_PAGES = 25
"""Statements that 100 more pages may cost, besides one for each flush; it was 11 to 16 when this was written."""
PLAIN_PAGES = 400
"""Pages without copies of each other."""
PAGES_A_LOOK_UP = 6
"""Changed pages whose contents are looked up at once, at least on average; they were 20 to 30 when this was written."""
LEVELS = 6
"""Depths of these pages, each of which a run finds anew that requests what is linked."""
BY_CONTENT = "WHERE fingerprint IN"


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


def plain_site(site: Site, pages: int, edition: str = "word") -> None:
    """Fill a site with a tree of pages, each with a text of its own in an edition."""
    for number in range(pages):
        links = [f"/p{child}" for child in range(3 * number + 1, 3 * number + 4) if child < pages]
        text = " ".join(f"{edition}{number * prime}" for prime in (7, 11, 13, 17, 19, 23))
        site.page(f"/p{number}", title=f"Page {number}", links=[*links, "/p0", f"/p{number // 2}"], text=text)


@pytest.mark.parametrize(
    "given",
    [{}, {"depth": 90, "duplicates": {"near": True}, "refresh": {"mode": "scratch"}}],
    ids=["plain", "limited-near-scratch"],
)
def test_a_flush_costs_two_round_trips(
    site: Site, url: str, tmp_path: Path, given: dict[str, object]
) -> None:
    """A transaction is one round trip, whatever is written in it; each read between two transactions is another.

    Looked at is what lies between the flush behind the first pages and that behind the last ones. Flushes come at
    least every 40 visits; further ones, which time brings, have to be as cheap. Apart from them, a page that has
    changed asks which others had its content: with that of the pages that are under way, so the order in which
    answers come says how many such look-ups there are.
    """
    workspace = Workspace(tmp_path)
    count_statements(tmp_path)
    workspace.define(f"{url}/p0", **OPTIONS, **given)
    for edition, outcome in (("word", "NEW"), ("word", "NOT_MODIFIED"), ("other", "MODIFIED")):
        plain_site(site, PLAIN_PAGES, edition)
        assert workspace.crawl().run["outcomes"][outcome] == PLAIN_PAGES
        told = statements_of(tmp_path)
        under_way = [place for place, (visits, _) in enumerate(told.intervals) if 0 < visits < PLAIN_PAGES]
        first, last = under_way[0], under_way[-1]
        flushes = last - first
        assert flushes >= PLAIN_PAGES // 40 - 2
        alone = told.alone_between(first, last)
        look_ups = [statement for statement in alone if BY_CONTENT in statement]
        growing = LEVELS * 3 if "refresh" in given else 0  # for each, links, queue and records are read
        assert len(alone) - len(look_ups) <= flushes + growing, (outcome, Counter(alone))
        assert len(look_ups) <= PLAIN_PAGES // PAGES_A_LOOK_UP, (outcome, len(look_ups))


def test_no_page_costs_a_statement_of_its_own(site: Site, url: str, tmp_path: Path) -> None:
    small = crawled(site, url, tmp_path / "small", 40)
    large = crawled(site, url, tmp_path / "large", 140)
    for few, many in zip(small, large, strict=True):
        more, flushes = len(many.alone) - len(few.alone), many.transactions - few.transactions
        assert more <= PER_100_PAGES + max(flushes, 0), (more, many.alone)
        assert few.transactions, "what is counted is a store that is written"
