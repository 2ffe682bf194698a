"""Applications whose shell differs in each answer, and whose data cannot be had for a while, or for good."""

from __future__ import annotations

import json
import shutil
from itertools import count
from typing import Any

import pytest
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS
from ultracrawl.run.rendering.page_renderer import MAX_LACKING_RUNS

pytestmark = pytest.mark.servers

ASK = """fetch('/data' + location.pathname).then(answer => answer.json()).then(
  data => { r.innerHTML = `<p>${data.word} in ${data.page}</p>`; },
  () => { r.innerHTML = `<p>Something went wrong${location.pathname}</p>`; });"""
SHELLS = {
    "constant": f"<title>shell</title><div id=r></div><script>{ASK}</script>",
    "nonce": f"<meta name=csrf-token content=DRAWN><div id=r></div><script nonce=DRAWN>{ASK}</script>",
    "field": f"<form><input type=hidden name=_token value=DRAWN></form><div id=r></div><script>{ASK}</script>",
    "in-script": f"<div id=r></div><script>window.csrf = 'DRAWN';{ASK}</script>",
    "address": f"<script src=/app.js?DRAWN></script><div id=r></div><script>{ASK}</script>",
    "attribute": f"<div id=r data-request=DRAWN></div><script>{ASK}</script>",
}
"""Shells of pages; each `DRAWN` is another value in each answer."""
OPENED = {"address", "attribute"}
"""Those that may differ for a reason, and are opened in each run."""
PATHS = sorted(f"/{name}" for name in SHELLS)


class Applications:
    """A site with a page for each shell."""

    def __init__(self, site: Site) -> None:
        require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
        self.word = "curlew"
        self.status = 200
        drawn = count(10**9)
        site.page("/", text="home", links=PATHS)
        site.dynamic("/app.js*", lambda _: Reply(200, (("Content-Type", "text/javascript"),), b"0"))
        site.file("/constant", SHELLS["constant"].encode(), "text/html")
        for name, shell in SHELLS.items():

            def page(_: object, shell: str = shell) -> Reply:
                body = shell.replace("DRAWN", str(next(drawn))).encode()
                return Reply(200, (("Content-Type", "text/html"),), body)

            def data(_: object, name: str = name) -> Reply:
                data = json.dumps({"word": self.word, "page": name}) if self.status == 200 else "broken"
                return Reply(self.status, (), data.encode())

            if "DRAWN" in shell:
                site.dynamic(f"/{name}", page)
            site.dynamic(f"/data/{name}", data)


def read(workspace: Workspace) -> dict[str, Any]:
    """Crawl once; return the numbers of rendering, and how many documents have changed."""
    run = workspace.crawl(code=None).run
    return {**run["javascript"], "modified": run["outcomes"].get("MODIFIED", 0)}


def test_applications_with_tokens_are_as_safe_and_as_cheap_as_others(
    site: Site, url: str, workspace: Workspace
) -> None:
    applications = Applications(site)
    workspace.define(f"{url}/", javascript={"use": True}, limits={"retries": 0})
    workspace.crawl()
    assert sorted(workspace.search("curlew")) == PATHS
    nothing_changed = read(workspace)
    assert nothing_changed["opened"] == len(OPENED)
    assert nothing_changed["parts"] >= len(PATHS)
    assert nothing_changed["modified"] == 0

    applications.status = 500
    for run in range(MAX_LACKING_RUNS):
        found = read(workspace)
        assert (found["unrendered"], found["modified"]) == ({"parts": len(PATHS)}, 0), run
        assert sorted(workspace.search("curlew")) == PATHS, run
    rows = workspace.urls()
    assert {path: rows[path]["cause"] for path in PATHS} == dict.fromkeys(PATHS, "unrendered")

    applications.status, applications.word = 200, "dunlin"
    found = read(workspace)
    assert (found["unrendered"], found["modified"]) == ({}, len(PATHS))
    assert (workspace.search("curlew"), sorted(workspace.search("dunlin"))) == ([], PATHS)
    assert {workspace.urls()[path]["reason"] for path in PATHS} == {""}
    applications.word = "plover"
    assert read(workspace)["modified"] == len(PATHS)
    assert (workspace.search("dunlin"), sorted(workspace.search("plover"))) == ([], PATHS)


def test_data_that_are_gone_for_good_are_reported_in_each_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    applications = Applications(site)
    workspace.define(f"{url}/nonce", javascript={"use": True}, limits={"retries": 0})
    workspace.crawl()
    applications.status = 500
    for run in range(1, MAX_LACKING_RUNS + 3):
        found = read(workspace)
        assert (found["opened"], found["unrendered"]) == (1, {"parts": 1}), run
        lasting = run > MAX_LACKING_RUNS
        assert found["modified"] == (run == MAX_LACKING_RUNS + 1), run
        assert bool(workspace.search("wrong")) == lasting, run
        assert workspace.urls()["/nonce"]["cause"] == "unrendered"
    applications.status = 200
    assert read(workspace)["modified"] == 1
    assert workspace.search("curlew") == ["/nonce"]
    assert read(workspace)["opened"] == 0
