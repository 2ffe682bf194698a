"""`javascript` of `sites.overrides`: each option holds at its site, and not at the one beside it that is alike."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from support.project import Workspace
from support.requirement import require
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

ONE, OTHER = "127.0.0.1", "127.0.0.2"
WORDS = ("sent", "written", "delayed")
PAGE = b"""<html lang=en><title>Page</title><p id=p>sent words</p><script src=/app.js></script>"""
APP = b"""document.body.insertAdjacentHTML('beforeend', '<p>written words</p>');
setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p class=late>delayed words</p>'), 4000);"""
Pair = tuple[dict[str, Site], dict[str, str]]


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


@pytest.fixture
def pair() -> Iterator[Pair]:
    sites = {host: Site() for host in (ONE, OTHER)}
    for site in sites.values():
        site.file("/", PAGE, "text/html")
        site.file("/app.js", APP, "text/javascript")
    with sites[ONE].serve(ONE) as one, sites[OTHER].serve(OTHER) as other:
        yield sites, {ONE: one, OTHER: other}


def crawl(pair: Pair, workspace: Workspace, whole: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Crawl and return by host which of the words find its page, and whether its script was asked for."""
    sites, urls = pair
    for site in sites.values():
        site.reset()
    workspace.define(
        start_urls=[f"{url}/" for url in urls.values()],
        duplicates={"detect": False},
        javascript={"keep_html": True, **whole},
        sites={"overrides": {ONE: {"javascript": own}}},
    )
    workspace.crawl()
    found: dict[str, set[str]] = {host: set() for host in sites}
    for word in WORDS:
        for hit in workspace.command("search", "--json", "--as-typed", word).json["hits"]:
            found[hit["url"].split("/")[2].partition(":")[0]].add(word)
    return {host: (found[host], sites[host].count("/app.js") > 0) for host in sites}


SENT, RENDERED = ({"sent"}, False), ({"sent", "written"}, True)
WAITED = ({"sent", "written", "delayed"}, True)
CASES = {
    "use on": ({"use": False}, {"use": True}, RENDERED, SENT),
    "use off": ({"use": True}, {"use": False}, SENT, RENDERED),
    "use in short": ({"use": False}, True, RENDERED, SENT),
    "urls": ({"use": True}, {"urls": [{"regexp": ".*/app/.*"}]}, SENT, RENDERED),
    "keep_html": ({"use": True}, {"keep_html": False}, ({"sent"}, True), RENDERED),
    "parts": ({"use": True}, {"parts": 0}, SENT, RENDERED),
    "wait_for": ({"use": True}, {"wait_for": ".late", "max_wait": 60, "timeout": 120}, WAITED, RENDERED),
}


@pytest.mark.parametrize("name", CASES)
def test_an_option_holds_at_its_site_only(pair: Pair, workspace: Workspace, name: str) -> None:
    whole, own, there, elsewhere = CASES[name]
    assert crawl(pair, workspace, whole, own) == {ONE: there, OTHER: elsewhere}


def test_a_changed_option_opens_the_pages_of_its_site_again(pair: Pair, workspace: Workspace) -> None:
    sites, _ = pair
    assert crawl(pair, workspace, {"use": True}, {"use": False}) == {ONE: SENT, OTHER: RENDERED}
    assert crawl(pair, workspace, {"use": True}, {"use": True})[ONE] == RENDERED
    assert [one.status for one in sites[OTHER].requests if one.path == "/"] == [304]
