"""A command in this process over a network of this process cannot be told from one in a process over loopback."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import clock
from support.clock import wall_time
from support.in_process import InProcessWorkspace
from support.later import later
from support.network import NetworkSite
from support.project import ANY_PORT, Workspace
from support.resource import MIB, Reply
from support.server import Request
from support.site import Site

HEADERS = {"X-Tenant": "seven", "Accept-Language": "de, en;q=0.5"}
VOLATILE = {"answer_seconds", "seconds", "started", "finished", "first_seen", "last_fetched"}
AFTER = re.compile(r"after \d+ (milliseconds|ms)|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def fill(site: Site) -> None:
    """Put something of everything on the site that a server without sockets can do."""
    paths = [
        "/a",
        "/b?x=1&y=%20",
        "/ü",
        "/gone",
        "/moved",
        "/outside",
        "/large",
        "/drip",
        "/bomb",
        "/hangs-up",
    ]
    paths += ["/late", "/private/x", "/a#part", "/text", "/busy", "http://127.0.0.9:1/refused"]
    site.page("/", title="Home", links=paths, text="home")
    for path in paths[:3]:
        site.page(path, title=path, text=f"needle {path}")
    site.gone("/gone")
    site.redirect("/moved", "/target")
    site.redirect("/outside", "https://outside.example/", status=302)
    site.page("/target", title="Target", headers=[("X-A", "1"), ("X-A", "2")])
    site.respond("/large", headers={"Content-Type": "text/html"}, body=b"x" * 2 * MIB)
    site.drip("/drip", b"<p>drop</p>", times=4)
    site.gzip_bomb("/bomb", unpacked=4 * MIB)
    site.raw("/hangs-up", b"")
    site.slow("/late", 2.5)
    site.file("/text", "Wörter".encode("latin-1"), "text/plain; charset=latin-1")
    site.robots("User-agent: *\nDisallow: /private\n")
    site.sitemap("/sitemap.xml", ["/a", "/of-the-sitemap"])
    site.page("/of-the-sitemap", title="Sitemap")
    waited: list[Request] = []

    def busy(request: Request) -> Reply:
        waited.append(request)
        if len(waited) == 1:
            return Reply(503, (("Retry-After", "1"),))
        return Reply(200, (("Content-Type", "text/html"),), b"<title>Busy</title>")

    site.dynamic("/busy", busy)


def two_runs(site: Site, workspace: Workspace, url: str) -> dict[str, Any]:
    """Return all that two crawls leave, without what differs from one time to the next."""
    fill(site)
    workspace.define(
        f"{url}/",
        headers=HEADERS,
        limits={"max_size": MIB, "timeout": 1, "retries": 0},
        cookies={"enabled": True},
        boundary={
            "networks": ["127.0.0.0/8"],
            "domains": {"include": "*"},
            "ports": ANY_PORT,
        },
    )
    left: dict[str, Any] = {}
    for number in (1, 2):
        left[f"run {number}"] = workspace.crawl(code=None).run
        left[f"urls {number}"] = workspace.urls()
        site.page("/a", title="A", text="needle again")
    left["search"] = sorted(workspace.search("needle"))
    left["explain"] = workspace.command("explain", f"{url}/private/x").out
    left["mistake"] = workspace.command("explain", "--no-such-option").code
    left["requests"] = sorted(
        [one.method, one.path, one.status, one.sent, sorted(one.headers.items())]
        for one in site.requests
        if one.path != "/hangs-up"  # libcurl tries that again on new connections
    )
    for table in ("urls 1", "urls 2"):
        for path in ("/hangs-up", "/refused"):
            del left[table][path]["reason"]  # in the words of libcurl
    return {name: lasting(value) for name, value in left.items()}


def lasting(left: Any) -> Any:
    """Return it without times."""
    match left:
        case dict():
            return {name: lasting(value) for name, value in left.items() if name not in VOLATILE}
        case list():
            return [lasting(value) for value in left]
        case str():
            return AFTER.sub("AFTER", left)
    return left


def test_two_runs_leave_the_same(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    site = Site()
    with site.serve() as url:
        there = two_runs(site, Workspace(tmp_path / "there"), url)
    site = NetworkSite()
    with site.serve(port=int(url.rpartition(":")[2])) as url:
        here = two_runs(site, InProcessWorkspace(tmp_path / "here"), url)
    for name in there:
        assert here[name] == there[name], name
    assert here["run 1"]["outcomes"]["NEW"] > 5


def test_delays_cost_no_time_and_are_seen_by_the_server(tmp_path: Path) -> None:
    site, workspace = NetworkSite(), InProcessWorkspace(tmp_path)
    site.page("/", links=[f"/{number}" for number in range(5)])
    for number in range(5):
        site.slow(f"/{number}", 20)
    with site.serve() as url:
        workspace.define(f"{url}/", politeness={"delay": 60, "concurrency": 1})
        begun = clock.true_monotonic()
        assert workspace.crawl().run["fetched"] == 6
    assert clock.true_monotonic() - begun < 60
    times = [one.time for one in site.requests]
    assert times[-1] - times[0] > 5 * 60


def test_what_is_worked_on_in_other_processes_takes_its_time(tmp_path: Path) -> None:
    site, workspace = NetworkSite(), InProcessWorkspace(tmp_path)
    site.file("/", rb"{\rtf1\ansi needle}", "application/rtf")
    with site.serve() as url:
        workspace.define(f"{url}/", conversion={"timeout": 30})
        assert workspace.crawl().run["outcomes"] == {"NEW": 1}
    assert workspace.search("needle") == ["/"]


def test_a_command_believes_that_it_is_later(tmp_path: Path) -> None:
    site, workspace = NetworkSite(), InProcessWorkspace(tmp_path)
    site.page("/", text="words")
    with site.serve() as url:
        workspace.define(f"{url}/")
        workspace.crawl(**later(tmp_path, 10 * 86_400))
    (row,) = workspace.command("urls", "--json").lines
    year, day = time.strftime("%Y %j", time.gmtime(wall_time() + 10 * 86_400)).split()
    seen = time.strptime(row["first_seen"], "%Y-%m-%dT%H:%M:%SZ")
    assert (seen.tm_year, seen.tm_yday) == (int(year), int(day))


def state_of_process() -> list[object]:
    root = logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in ("scrapy", "ultracrawl", "twisted")}
    umask = os.umask(0o077)
    os.umask(umask)
    descriptors = len(os.listdir("/proc/self/fd"))
    return [
        os.getcwd(), dict(os.environ), list(sys.path), umask, root.level, list(root.handlers), levels,
        sys.stdout, sys.stderr, sys.modules.get("twisted.internet.reactor"), descriptors,
    ]  # fmt: skip


def crawl(workspace: Workspace) -> None:
    workspace.crawl("-v")


def mistake(workspace: Workspace) -> None:
    assert workspace.command("crawl", "nobody").code == 2


@pytest.mark.parametrize("act", [crawl, mistake])
def test_the_process_is_left_as_it_was(tmp_path: Path, act: Callable[[Workspace], None]) -> None:
    site, workspace = NetworkSite(), InProcessWorkspace(tmp_path)
    site.page("/", links=["/a"])
    (tmp_path / "mine.py").write_text(
        "from ultracrawl.spiders import SourceSpider\nclass Mine(SourceSpider): pass\n"
    )
    with site.serve() as url:
        workspace.define(f"{url}/", **{"class": "mine.Mine"})
        act(workspace)  # imports what is imported once
        before = state_of_process()
        act(workspace)
    assert state_of_process() == before
    assert "mine" not in sys.modules


def test_nothing_runs_beside_it(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError):
        InProcessWorkspace(tmp_path).start("crawl")
