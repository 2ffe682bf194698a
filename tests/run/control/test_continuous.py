"""`crawl --continuous`: cycles begin when they are due, and Ctrl-C ends it cleanly."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from support.project import Workspace, kill_group
from support.site import Site
from support.until import stays, until

pytestmark = pytest.mark.processes


def interrupt(process: subprocess.Popen[str]) -> tuple[list[dict[str, object]], str]:
    """Press Ctrl-C; returns the runs that were reported."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=100)
    except subprocess.TimeoutExpired:
        kill_group(process)
        raise
    assert process.returncode == 0, err
    assert "Traceback" not in err
    return [run for line in out.splitlines() for run in json.loads(line)["runs"]], err


def test_fast_62_when_idle_the_next_cycle_begins_at_once(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/", refresh={"when_idle": True})
    process = workspace.start("crawl", "--continuous", "--json")
    until(lambda: site.count("/") >= 2, process)
    runs, _ = interrupt(process)
    assert [run["run_id"] for run in runs[:1]] == ["1"]
    assert len(site.statuses("/")) >= 2


def test_fast_60_cycles_begin_an_interval_apart_and_one_that_lasts_too_long_ends(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=[f"/{number}" for number in range(400)], text="words")
    workspace.define(
        f"{url}/",
        refresh={"interval": "3 s", "mode": "scratch"},
        politeness={"delay": 0.1, "concurrency": 1},
        sitemaps={"use": False},
    )
    process = workspace.start("crawl", "--continuous", "--json")
    until(lambda: site.count("/") >= 3, process)
    times = [request.time for request in site.requests if request.path == "/"]
    runs, _ = interrupt(process)
    assert times[2] - times[1] > 0.5, "each cycle has its time, however late the machine begins one"
    assert [run["resumed"] for run in runs[:2]] == [False, False]
    assert sum(path == "/399" for path in site.paths()) == 0, "a cycle that is over leaves its queue"


def test_fast_60_nothing_is_crawled_before_the_next_cycle_is_due(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/", refresh={"interval": "1 h"})
    workspace.crawl()
    process = workspace.start("crawl", "--continuous", "--json")
    stays(lambda: site.count("/"), 2.0)
    assert interrupt(process)[0] == []
    assert site.count("/") == 1


def test_without_an_interval_it_says_what_to_write(site: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/")
    ended = workspace.command("crawl", "--continuous")
    assert ended.code == 2
    assert "write for example `refresh: {interval: 24 h}`" in ended.err
