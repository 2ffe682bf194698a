"""A page whose parts are as they were is not opened in the browser again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

WRITE = "document.body.innerHTML += words.map(one => `<p>${one}</p><a href=/item/${one}>x</a>`).join('');"
ASK = "fetch('/data').then(answer => answer.json()).then(words => {" + WRITE + "});"
SHELLS = {
    "data": "<title>Shell</title><p><script src=/app.js></script>",
    "script": "<title>Shell</title><p><script src=/data.js></script><script src=/app.js></script>",
}
PARTS = {"data": ("/app.js", "/data"), "script": ("/app.js", "/data.js")}
OPTIONS: dict[str, dict[str, Any]] = {
    "by default": {"use": True},
    "the rendered page": {"use": True, "keep_html": True},
    "the page as sent": {"use": True, "keep_html": False},
    "auto": {"use": "auto"},
}


@pytest.fixture
def starts(workspace: Workspace) -> Path:
    """A browser that notes its starts in the file with the same name and the suffix `.log`."""
    chromium = next(filter(None, map(shutil.which, PROGRAMS)), "")
    require(chromium, "Chromium", "chromium")
    program = workspace.directory / "browser"
    program.write_text(f'#!/bin/sh\necho >> "{program}.log"\nexec {chromium} "$@"\n')
    program.chmod(0o755)
    return program


def count(program: Path) -> int:
    return program.with_suffix(".log").read_text().count("\n")


def serve(site: Site, kind: str, *words: str, validators: bool = True) -> None:
    keep = None if validators else False
    site.file("/", SHELLS[kind].encode(), "text/html", etag=keep, modified=keep)
    app = (ASK if kind == "data" else WRITE).encode()
    site.file("/app.js", app, "text/javascript", etag=keep, modified=keep)
    data = json.dumps(words).encode()
    site.file("/data", data, "application/json", etag=keep, modified=keep)
    site.file("/data.js", b"const words = " + data, "text/javascript", etag=keep, modified=keep)
    for word in words:
        site.page(f"/item/{word}", text=f"about {word}")


def conditional(site: Site, path: str) -> int:
    """Return how often a path was asked for on condition that it has changed."""
    return sum(request.path == path and bool(request.header("If-None-Match")) for request in site.requests)


@pytest.mark.parametrize("kind", SHELLS)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_parts_tell_whether_a_page_is_opened_again(
    site: Site, url: str, workspace: Workspace, starts: Path, options: dict[str, Any], kind: str
) -> None:
    shown = ["/"] if options.get("keep_html", True) else []
    workspace.define(f"{url}/", javascript={**options, "browser": str(starts)})
    serve(site, kind, "curlew")
    workspace.crawl()
    assert sorted(workspace.search("curlew")) == [*shown, "/item/curlew"]
    for run in range(1, 5):
        outcomes = workspace.crawl().run["outcomes"]
        assert outcomes == {"NOT_MODIFIED": 2}
        assert [conditional(site, path) for path in ("/", *PARTS[kind])] == [run] * 3
    assert count(starts) == 1
    serve(site, kind, "curlew", "dunlin")
    workspace.crawl()
    assert count(starts) == 2
    assert sorted(workspace.search("dunlin")) == [*shown, "/item/dunlin"]
    workspace.crawl()
    assert count(starts) == 2
    serve(site, kind, "dunlin")
    workspace.crawl()
    assert count(starts) == 3
    assert workspace.search("curlew") == ["/item/curlew"], "still there, although nothing leads to it"


def test_parts_without_validators_are_compared(
    site: Site, url: str, workspace: Workspace, starts: Path
) -> None:
    workspace.define(f"{url}/", javascript={"use": True, "browser": str(starts)})
    serve(site, "data", "curlew", validators=False)
    workspace.crawl()
    assert workspace.crawl().run["outcomes"]["UNMODIFIED"] == 1
    assert (count(starts), site.count("/data")) == (1, 2)
    serve(site, "data", "dunlin", validators=False)
    workspace.crawl()
    assert count(starts) == 2
    assert sorted(workspace.search("dunlin")) == ["/", "/item/dunlin"]


def test_a_page_that_sends_data_is_opened_at_each_visit(
    site: Site, url: str, workspace: Workspace, starts: Path
) -> None:
    words = ["curlew"]
    ask = "fetch('/query', {method: 'POST', body: '1'}).then(a => a.json()).then(words => {" + WRITE + "});"
    site.file("/", f"<title>Shell</title><p><script>{ask}</script>".encode(), "text/html")
    site.dynamic("/query", lambda request: Reply(200, (), json.dumps(words).encode()))
    site.dynamic("/item/*", lambda request: Reply(200, (("Content-Type", "text/html"),), b"<p>item"))
    workspace.define(f"{url}/", javascript={"use": True, "post_data": True, "browser": str(starts)})
    workspace.crawl()
    workspace.crawl()
    assert count(starts) == 2
    words.append("dunlin")
    workspace.crawl()
    assert workspace.search("dunlin") == ["/"]


def test_a_page_is_opened_if_it_has_changed_itself(
    site: Site, url: str, workspace: Workspace, starts: Path
) -> None:
    workspace.define(f"{url}/", javascript={"use": True, "browser": str(starts)})
    serve(site, "data", "curlew")
    workspace.crawl()
    site.file("/", b"<title>New</title><p>plover <script src=/app.js></script>", "text/html")
    workspace.crawl()
    assert count(starts) == 2
    assert workspace.search("plover curlew") == ["/"]


def test_parts_are_asked_for_as_robots_txt_permits(
    site: Site, url: str, workspace: Workspace, starts: Path
) -> None:
    workspace.define(f"{url}/", javascript={"use": True, "browser": str(starts)}, robots={"ttl": 0})
    serve(site, "data", "curlew")
    workspace.crawl()
    site.robots("User-agent: *\nDisallow: /data")
    before = site.count("/data")
    workspace.crawl(code=None)
    assert (site.count("/data"), count(starts)) == (before, 2)


def test_pages_that_share_a_script_ask_for_it_once_a_run(
    site: Site, url: str, workspace: Workspace, starts: Path
) -> None:
    serve(site, "data", "curlew")
    paths = ["/one", "/two", "/three"]
    site.page("/", links=paths)
    for path in paths:
        site.file(path, f"<title>{path}</title><p>{path} <script src=/app.js></script>".encode(), "text/html")
    workspace.define(f"{url}/", javascript={"use": True, "browser": str(starts), "pages": 1})
    workspace.crawl()
    workspace.crawl()
    assert (count(starts), site.count("/app.js"), conditional(site, "/app.js")) == (1, 2, 1)
    assert conditional(site, "/data") == 3
