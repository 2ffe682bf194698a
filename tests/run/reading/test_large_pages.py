"""Large pages: others go on while one is read, the crawl process stays small, and what was cut is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.project import ROOT, Workspace
from support.sentences import sentence
from support.site import Site
from support.until import until

LARGE = 8_000_000
MOST_MEMORY = 250 << 20
"""Between what a crawl has that hands such pages over (180 MB) and one that reads them itself (430 MB)."""

HELD = """
import sys, time
from pathlib import Path
if "ultracrawl.content.service.worker" in sys.orig_argv:
    Path({held!r}).touch()
    while not Path({let_go!r}).exists():
        time.sleep(0.01)
"""
MEASURED = """
import atexit, runpy, sys
def tell():
    with open("/proc/self/status") as status:
        peak = next(line for line in status if line.startswith("VmHWM"))
    with open("peak", "w") as file:
        file.write(peak.split()[1])
atexit.register(tell)
sys.argv = ["ultracrawl", "crawl", "--json"]
runpy.run_module("ultracrawl", run_name="__main__")
"""


def links(size: int, name: str = "x") -> bytes:
    line = b"<a href=/" + name.encode() + b"%07d>a link to page number %07d</a>\n"
    return b"".join(line % (one, one) for one in range(size // (len(line) + 10)))


def nested(size: int, title: bytes) -> bytes:
    return b"<title>" + title + b"</title>" + b"<div><b><i>" * (size // 11)


@pytest.mark.servers  # much time
def test_other_pages_are_asked_for_while_a_large_one_is_read(
    site: Site, url: str, workspace: Workspace, tmp_path: Path
) -> None:
    held, let_go = tmp_path / "held", tmp_path / "let_go"
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HELD.format(held=str(held), let_go=str(let_go)))
    site.page("/", title="Home", text="needle", links=["/large", "/0"])
    site.file("/large", b"<title>Large</title>needle " + links(600_000), "text/html")
    for number in range(20):
        site.page(f"/{number}", title=str(number), text=f"needle {number}", links=[f"/{number + 1}"])
    first = site.hold("/0")
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": 2}, limits={"links_per_page": 5})
    crawl = workspace.start("crawl", "--json", PYTHONPATH=f"{tmp_path / 'hook'}{os.pathsep}{ROOT}")
    try:
        until(held.exists, crawl)
        first.set()
        until(lambda: site.count("/19"), crawl)
    finally:
        let_go.touch()
        out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, err
    assert json.loads(out)["runs"][0]["problems"] == []
    assert {"/large", "/19"} <= set(workspace.search("needle"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
@pytest.mark.servers  # much time
def test_four_large_pages_at_once_leave_the_crawl_process_small(
    site: Site, url: str, workspace: Workspace, tmp_path: Path
) -> None:
    site.page("/", title="Home", text="needle", links=["/a", "/b", "/c", "/d"])
    site.file("/a", links(LARGE, "x"), "text/html")
    site.file("/b", nested(LARGE, b"One"), "text/html")
    site.file("/c", links(LARGE, "y"), "text/html; charset=windows-1252")
    site.file("/d", nested(LARGE, b"Two"), "text/html")
    workspace.define(f"{url}/", depth=1)
    ended = subprocess.run(
        [sys.executable, "-c", MEASURED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    (run,) = json.loads(ended.stdout)["runs"]
    assert run["outcomes"] == {"NEW": 5}, run
    assert int((tmp_path / "peak").read_text()) << 10 < MOST_MEMORY


def test_links_beyond_the_limit_are_not_followed_and_that_is_said(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle", links=["/no/a", "/no/b", *(f"/{one}" for one in range(9))])
    for number in range(9):
        site.page(f"/{number}", title=str(number), text=f"needle {number}")
    workspace.define(f"{url}/", limits={"links_per_page": 6}, exclude=["/no/"])
    run = workspace.crawl().run
    reason = "limits.links_per_page 6: further links were omitted"
    assert (run["outcomes"], run["cut"]) == ({"NEW": 5}, {reason: 1})
    assert run["cut_examples"] == {reason: f"{url}/"}
    assert sum(run["rejected_by"].values()) == 2, "links that are cut off are not among the excluded ones"
    assert workspace.urls()["/"]["reason"] == reason
    assert reason in workspace.command("explain", f"{url}/").out
    told = workspace.command("crawl", "--force").out.splitlines()
    excluded, at = told.index("  Excluded links (2):"), told.index("  Pages read in part (1):")
    assert told[at + 1].split(maxsplit=1) == ["1", f"{reason}: {url}/"]
    assert at - excluded == 2, "one rule excluded both"
    workspace.define(f"{url}/")
    assert workspace.crawl("--force").run["outcomes"]["NEW"] == 5


def test_a_page_with_too_many_nodes_is_indexed_as_far_as_it_was_read(
    site: Site, url: str, workspace: Workspace
) -> None:
    page = b"<title>Long</title>" + b"<p>first</p>" * 10 + b"<p>hidden <a href=/x>x</a></p>"
    site.file("/", page, "text/html")
    workspace.define(f"{url}/", limits={"nodes_per_page": 22})
    run = workspace.crawl().run
    assert run["cut"] == {sentence("html.nodes_omitted"): 1}
    assert (workspace.search("first"), workspace.search("hidden"), site.count("/x")) == (["/"], [], 0)


def test_a_large_page_that_takes_too_long_ends_as_failed(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle", links=["/large"])
    site.file("/large", links(1_000_000), "text/html")
    workspace.define(f"{url}/", limits={"seconds_per_page": 0.001})
    run = workspace.crawl(code=None).run
    assert (run["outcomes"], run["status_codes"]) == ({"NEW": 1, "FAILED": 1}, {"200": 1, "958": 1})
    assert "limits.seconds_per_page" in workspace.urls()["/large"]["reason"]
