"""A running crawl is paused, resumed and stopped from another terminal (portal robot 13.1)."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest
from support.named import named
from support.project import ROOT, Workspace, kill_group
from support.sentences import sentence
from support.site import Site
from support.until import stays, until

from ultracrawl.stores.port.leases import LEASE_SECONDS

pytestmark = pytest.mark.servers  # much time

PAGES = 60


@pytest.fixture
def slow(site: Site, url: str, workspace: Workspace) -> Site:
    """Return a site of 61 pages whose crawl takes some seconds."""
    site.page("/", title="Home", links=[f"/{number}" for number in range(PAGES)], text="words")
    for number in range(PAGES):
        site.page(f"/{number}", title=f"Page {number}", text="words")
    workspace.define(f"{url}/", politeness={"delay": 0.1, "concurrency": 1})
    return site


@pytest.fixture
def running(slow: Site, workspace: Workspace) -> Iterator[subprocess.Popen[str]]:
    process = workspace.start("crawl", "site", "--json")
    until(lambda: len(slow.requests) >= 8 or process.poll() is not None)
    yield process
    kill_group(process)


def state(workspace: Workspace) -> str:
    (row,) = workspace.command("status", "--json").json["sources"]
    return str(row["state"])


def site_status(workspace: Workspace, slow: Site) -> str:
    host = slow.requests[0].header("Host")
    assert host is not None
    return workspace.command("status", host).out.splitlines()[0]


def forget_the_crawl(workspace: Workspace) -> None:
    """Let as much time go by as the site stays with a crawl that was killed."""
    sites = workspace.directory / "var" / "state" / "sites" / "sites.sqlite"
    with closing(sqlite3.connect(sites)) as db, db:
        db.execute("UPDATE crawl SET until=until-?", [LEASE_SECONDS])
        db.execute("UPDATE site SET next_at=next_at-?", [LEASE_SECONDS])


def test_a_paused_crawl_asks_for_nothing_and_goes_on_when_resumed__portal_robot_133(
    running: subprocess.Popen[str], slow: Site, workspace: Workspace
) -> None:
    assert state(workspace) == "running"
    ended = workspace.command("pause", "site")
    assert (ended.code, ended.out) == (0, "site: paused\n")
    assert state(workspace) == "paused"
    assert "the crawl is paused" in site_status(workspace, slow)
    before = len(slow.requests)  # what was on its way has arrived
    stays(lambda: len(slow.requests))  # five times its delay
    assert len(slow.requests) == before < PAGES
    assert len(workspace.search("words")) >= before - 3, "what was fetched can be searched"
    again = workspace.command("pause", "site", "--json").json["sources"]
    assert again == [
        {
            "source": "site",
            "command": "pause",
            "obeyed": True,
            "state": "paused",
            "note": "was paused already",
        }
    ]
    assert "resumed" in workspace.command("resume", "site").out
    until(lambda: len(slow.requests) > before)
    assert state(workspace) == "running"
    _, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert state(workspace) == "idle"
    assert len(workspace.search("words")) == PAGES + 1
    assert max(slow.counts().values()) == 1


def test_a_stopped_crawl_ends_as_by_ctrl_c_and_is_resumed__portal_robot_133(
    running: subprocess.Popen[str], slow: Site, workspace: Workspace
) -> None:
    ended = workspace.command("stop", "site")
    assert (ended.code, ended.out.count("\n"), ended.out.startswith("site: ")) == (0, 1, True)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "Traceback" not in err
    assert '"interrupted": true' in out
    assert state(workspace) == "unfinished"
    assert len(slow.requests) < PAGES
    assert len(workspace.search("words")) >= 4
    run = workspace.crawl("--delay", "0").run
    assert run["resumed"] is True
    assert len(workspace.search("words")) == PAGES + 1
    assert max(slow.counts().values()) <= 2


def test_a_paused_crawl_can_be_stopped_and_a_later_one_is_not_paused__portal_robot_133(
    running: subprocess.Popen[str], slow: Site, workspace: Workspace
) -> None:
    assert workspace.command("pause", "site").code == 0
    assert workspace.command("stop", "site").code == 0
    running.communicate(timeout=60)
    assert running.returncode == 1
    workspace.crawl("--delay", "0")
    assert len(workspace.search("words")) == PAGES + 1


def test_a_paused_crawl_obeys_ctrl_c(running: subprocess.Popen[str], workspace: Workspace) -> None:
    assert workspace.command("pause", "site").code == 0
    os.killpg(running.pid, signal.SIGINT)
    running.communicate(timeout=100)
    assert running.returncode == 1
    assert state(workspace) == "unfinished"


def test_a_pause_does_not_survive_a_kill(
    running: subprocess.Popen[str], slow: Site, workspace: Workspace
) -> None:
    assert workspace.command("pause", "site").code == 0
    kill_group(running)
    assert state(workspace) == "unfinished", "a killed crawl is not paused"
    forget_the_crawl(workspace)
    assert sentence("orders.requested_by_next_crawl") in site_status(workspace, slow)
    ended = workspace.command("resume", "site")
    assert ended.code == 2
    workspace.crawl("--delay", "0")
    assert len(workspace.search("words")) == PAGES + 1


def test_pausing_waits_for_what_is_in_flight(slow: Site, url: str, workspace: Workspace) -> None:
    slow.page("/5", title="Page 5", text="words")
    answer = slow.hold("/5")
    process = workspace.start("crawl", "site")
    until(lambda: slow.count("/5") == 1)
    late = workspace.command("pause", "site", "--timeout", "1.5")
    assert late.code == 1
    assert "1 requests are in flight" in late.err
    assert state(workspace) == "pausing"
    answer.set()
    assert workspace.command("pause", "site").code == 0
    assert workspace.urls()["/5"]["outcome"] == "NEW", "it was finished"
    kill_group(process)


def test_an_order_can_be_left_without_waiting(running: subprocess.Popen[str], workspace: Workspace) -> None:
    ended = workspace.command("stop", "site", "--no-wait", "--json")
    (one,) = ended.json["sources"]
    assert (ended.code, one["obeyed"], one["note"]) == (0, None, "stop requested")
    running.communicate(timeout=100)
    assert running.returncode == 1


@pytest.mark.parametrize("verb", ["pause", "resume", "stop"])
def test_a_source_that_is_not_being_crawled(slow: Site, workspace: Workspace, verb: str) -> None:
    ended = workspace.command(verb, "site")
    assert ended.code == 2
    assert (ended.err.count("\n"), named(ended.err)) == (1, ["site"])
    assert workspace.command(verb, "nosuch").code == 2


def test_resuming_a_crawl_that_is_not_paused_says_so(
    running: subprocess.Popen[str], workspace: Workspace
) -> None:
    ended = workspace.command("resume", "site")
    assert (ended.code, ended.out) == (0, "site: is not paused\n")


def test_stopping_one_source_lets_the_next_have_its_turn(slow: Site, url: str, workspace: Workspace) -> None:
    boundary = {"networks": ["127.0.0.0/8"]}
    first = {"start_urls": [f"{url}/"], "boundary": boundary, "politeness": {"delay": 0.1, "concurrency": 1}}
    second = {"start_urls": [f"{url}/1"], "boundary": boundary, "politeness": {"delay": 0}}
    workspace.write({"sources": {"first": first, "second": second}})
    process = workspace.start("crawl", "--json")
    until(lambda: len(slow.requests) >= 8)
    assert workspace.command("stop", "first").code == 0
    out, _ = process.communicate(timeout=100)
    assert process.returncode == 1
    assert '"source": "second"' in out


def test_a_crawl_that_scrapy_started_is_steered_too(slow: Site, workspace: Workspace) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "site"],
        cwd=workspace.directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "ultracrawl.settings"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until(lambda: len(slow.requests) >= 8 or process.poll() is not None)
        assert workspace.command("pause", "site").code == 0
        assert workspace.command("resume", "site").code == 0
        assert workspace.command("stop", "site").code == 0
        process.communicate(timeout=100)
    finally:
        kill_group(process)
    assert state(workspace) == "unfinished"
    assert len(slow.requests) < PAGES
