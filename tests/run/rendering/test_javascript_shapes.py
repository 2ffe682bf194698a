"""Many ways in which scripts write pages and lead elsewhere, each tried by a page of one crawl."""

from __future__ import annotations

import shutil

import pytest
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.server import Request
from support.shapes import BOUNDED, LED, NOWHERE, WRITTEN, ShapeSite
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = [pytest.mark.servers, pytest.mark.timeout(400)]

OPTIONS = {"use": True, "keep_html": True, "pages": 6, "max_wait": 20, "timeout": 90}
MAX_RANDOM = 20
"""Places that a page leads to which goes on for ever."""


def echo(request: Request) -> Reply:
    """Answer a page that is like no other."""
    body = f"<title>{request.path}</title><p>page {request.path}</p>"
    return Reply(200, (("Content-Type", "text/html"),), body.encode())


def test_what_scripts_write_is_read_and_where_they_lead_is_found(
    site: Site, url: str, workspace: Workspace
) -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    for path in ("/of/*", "/own/*", "/target/*", "/random/*", "/pushed"):
        site.dynamic(path, echo)
    written, led = ShapeSite(site, WRITTEN, "written"), ShapeSite(site, LED, "led")
    site.page("/", links=[*written.paths.values(), *led.paths.values()])
    workspace.define(f"{url}/", javascript=OPTIONS)
    run = workspace.crawl(timeout=300).run
    asked, behind = site.page_paths(), set(workspace.search("behind"))
    found = set(workspace.search(" OR ".join(written.words.values())))
    wrong = {}
    for name, path in written.paths.items():
        seen = path in found, written.link(name) in asked
        if seen != BOUNDED.get(name, (True, True)):
            wrong[name] = f"words and link {seen}"
    for name, path in led.paths.items():
        leads = any(one.partition("?")[0] == led.target(name) for one in asked)
        stays = path in behind, led.own(name) in asked
        if (*stays, leads) != (True, True, name not in NOWHERE):
            wrong[name] = f"words and own link {stays}, target {leads}"
    assert not wrong, f"{len(wrong)} of {len(WRITTEN)} and {len(LED)}:" + "".join(
        f"\n{name}: {seen}" for name, seen in wrong.items()
    )
    assert not any(path.startswith("/posted") for path in asked)
    for name, end in (("random", "?"), ("random paths", "/")):
        assert 1 <= sum(path.startswith(f"/random/{led.slug(name)}{end}") for path in asked) <= MAX_RANDOM
    assert run["javascript"]["unrendered"] == {}
    assert sum(run["cut"].values()) == 2
