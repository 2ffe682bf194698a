"""Pages that never end, open windows or allocate memory: the run ends, its report names them, and others are read."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

GOOD = [f"/good{number}" for number in range(4)]
WRITE = "document.body.insertAdjacentHTML('beforeend', '<p>written <a href=/target>x</a>')"
ALLOCATE = """
const kept = [];
const allocate = () => { for (let n = 0; n < 8 && kept.length < %s; n++) kept.push(new Uint8Array(8 << 20).fill(1)); };
allocate();
"""
WINDOWS = """
document.body.insertAdjacentHTML('beforeend', '<a id=a target=_blank href="">x</a><iframe id=f></iframe>');
const link = document.getElementById('a'), frame = document.getElementById('f').contentWindow;
for (let n = 0; n < 1000; n++) {
  window.open('/window?' + n);
  link.href = '/clicked?' + n;
  link.click();
  try { frame.open('/framed?' + n); } catch {}
}
"""


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


def crawled(
    site: Site, url: str, workspace: Workspace, script: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Crawl a page with a script, and four good ones beside it, whose scripts must all have run."""
    site.file("/bad", f"<p>as sent</p><a href=/static>x</a><script>{script}</script>".encode(), "text/html")
    for path in (*GOOD, "/target", "/static"):
        site.file(
            path, f"<p>page {path}</p><script>document.body.append(' ran')</script>".encode(), "text/html"
        )
    site.dynamic("/once*", lambda _: Reply(200, (), b"x"))
    for prefix in ("/window*", "/clicked*", "/framed*"):
        site.dynamic(prefix, lambda _: Reply(404, (), b""))
    site.page("/", links=[*GOOD[:2], "/bad", *GOOD[2:]])
    workspace.define(
        f"{url}/", javascript={"use": True, "keep_html": True, "pages": 3, **options}, limits={"pages": 60}
    )
    run: dict[str, Any] = workspace.crawl(timeout=120).run
    ran = workspace.search("ran")
    assert set(GOOD) <= set(ran)
    assert "/static" in workspace.indexed()
    assert workspace.search("as sent") == ["/bad"]
    return run


@pytest.mark.parametrize(
    "script", ["while (true);", "setTimeout(() => { while (true); }, 300);"], ids=["at once", "later"]
)
def test_a_page_that_never_ends_is_closed_and_opened_once_more(
    site: Site, url: str, workspace: Workspace, script: str
) -> None:
    script = f"fetch('/once?1'); fetch('/once?2').then(() => 0); {script}"
    run = crawled(site, url, workspace, script, {"timeout": 15})
    assert run["javascript"]["unrendered"] == {"time": 1}
    assert run["rejected_by"]["javascript failed"] == 1
    assert all(site.count(f"/once?{number}") <= 2 for number in (1, 2))
    assert site.count("/bad") == 2
    assert [path for path in site.paths() if path in ("/bad", *GOOD)][-1] == "/bad", "alone, at the end"
    assert "unrendered time" in workspace.command("explain", f"{url}/bad").out


@pytest.mark.parametrize(
    ("memory", "fault"), [("300 MB", {"memory": 1}), ("2 GB", {})], ids=["closed", "read"]
)
def test_memory_bounds_what_a_page_allocates(
    site: Site, url: str, workspace: Workspace, memory: str, fault: dict[str, int]
) -> None:
    script = ALLOCATE % 75 + f"setInterval(allocate, 20); setTimeout(() => {{ {WRITE} }}, 1900)"
    run = crawled(site, url, workspace, script, {"memory": memory, "timeout": 60, "max_wait": 30})
    assert run["javascript"]["unrendered"] == fault
    assert workspace.search("written") == ([] if fault else ["/bad"])
    assert ("unrendered memory" in workspace.command("explain", f"{url}/bad").out) == bool(fault)


def test_a_page_that_allocates_without_end_is_closed(site: Site, url: str, workspace: Workspace) -> None:
    script = ALLOCATE % "Infinity" + "while (true) allocate();"
    run = crawled(site, url, workspace, script, {"memory": "500 MB", "timeout": 60})
    assert run["javascript"]["unrendered"] == {"memory": 1}


@pytest.mark.parametrize("script", [WINDOWS, f"{WINDOWS}; setInterval(() => window.open('/window'), 1)"])
def test_a_page_that_opens_a_thousand_windows(
    site: Site, url: str, workspace: Workspace, script: str
) -> None:
    run = crawled(site, url, workspace, f"{script};{WRITE}", {"timeout": 90})
    assert run["javascript"]["unrendered"] == {}
    assert workspace.search("written") == ["/bad"]
    assert {"/window?0", "/clicked?0", "/target"} <= site.page_paths()


def test_a_page_that_closes_itself_is_read(site: Site, url: str, workspace: Workspace) -> None:
    crawled(site, url, workspace, f"{WRITE}; window.close()", {})
    assert workspace.search("written") == ["/bad"]
