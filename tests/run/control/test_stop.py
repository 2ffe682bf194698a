"""Ctrl-C: once ends cleanly and resumably, twice at once."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from support.project import Workspace, kill_group
from support.sentences import sentence
from support.site import Site
from support.until import until

pytestmark = pytest.mark.servers  # much time


def slow_crawl(
    site: Site, url: str, workspace: Workspace, requests: int = 12, **options: object
) -> subprocess.Popen[str]:
    site.page("/", title="Home", links=[f"/{number}" for number in range(60)], text="words")
    for number in range(60):
        site.page(f"/{number}", title=f"Page {number}", text="words")
    workspace.define(f"{url}/", politeness={"delay": 0.05, "concurrency": 1}, **options)
    process = workspace.start("crawl")
    until(lambda: len(site.requests) >= requests, process)
    return process


def test_one_interrupt_stops_cleanly_and_the_next_crawl_goes_on(
    site: Site, url: str, workspace: Workspace
) -> None:
    process = slow_crawl(site, url, workspace)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 1
    assert "Traceback" not in err
    assert sentence("stop.next_run_fetches_them") in out
    assert err.endswith(sentence("stop.crawl_again", names="site"))
    assert len(workspace.search("words")) >= 8, "what was fetched is indexed before the end"
    run = workspace.crawl().run
    assert run["resumed"] is True
    assert len(workspace.search("words")) == 61
    assert len(site.requests) <= 62 + 4, "nothing that was done is fetched again"


def test_two_interrupts_stop_at_once(site: Site, url: str, workspace: Workspace) -> None:
    options = {"limits": {"timeout": 300}, "settings": {"LOG_LEVEL": "INFO"}}
    process = slow_crawl(site, url, workspace, requests=6, **options)
    answer = site.hold("/20")
    until(lambda: site.count("/20"), process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.stderr is not None
    while "SIGINT" not in process.stderr.readline():
        assert process.poll() is None, "it waits for what is in flight"
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.communicate(timeout=100)
    finally:
        kill_group(process)
    answer.set()
    workspace.crawl()
    assert len(workspace.search("words")) == 61


def test_the_end_of_its_terminal_ends_a_crawl_as_a_request_to_stop_does(
    site: Site, url: str, workspace: Workspace
) -> None:
    process = slow_crawl(site, url, workspace)
    os.killpg(process.pid, signal.SIGHUP)
    out, err = process.communicate(timeout=100)
    assert (process.returncode, "Traceback" in err) == (1, False), err
    assert sentence("stop.next_run_fetches_them") in out
    assert workspace.crawl().run["resumed"] is True
    assert len(workspace.search("words")) == 61
