"""Crawls of several sources, the owner of their index, and the service itself are killed at random: nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from support import crash
from support.project import LOOPBACK, PATIENCE, Workspace
from support.same_index import index_differences
from support.site import Site
from support.started import start
from support.until import some_time, until

pytestmark = pytest.mark.servers  # much time

SOURCES = 3
PAGES = 60
KILLS = 8


def define(workspace: Workspace, urls: list[str], engine: str) -> None:
    workspace.directory.mkdir(parents=True)
    sources: dict[str, Any] = {
        f"s{number}": {
            "start_urls": [f"{url}/p0"],
            "boundary": LOOPBACK,
            "politeness": {"delay": 0.01, "concurrency": 4, "backoff": {"longest": 0}},
            "limits": {"retries": 3, "retry_delay": 0.05},
            "refresh": {"interval": "1 d"},
        }
        for number, url in enumerate(urls)
    }
    workspace.write({"index": {"engine": engine, "every": 0.5}, "sources": sources})


def serve(workspace: Workspace) -> subprocess.Popen[str]:
    return start(workspace.directory / "serve.log", "serve", "--port", "0", "--jobs", str(SOURCES))


def below(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return what a service has started, itself included."""
    try:
        service = psutil.Process(process.pid)
        return [service, *service.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def finished(workspace: Workspace) -> bool:
    found = workspace.command("status", "--json").json["sources"]
    return all(one["last_run"] and one["last_run"].get("finished") and not one["queued"] for one in found)


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_kills_at_random_leave_the_index_of_an_undisturbed_crawl(tmp_path: Path, engine: str) -> None:
    dice = random.Random(18)
    with ExitStack() as stack:
        sites = [Site() for _ in range(SOURCES)]
        for site in sites:
            crash.build(site, PAGES)
        urls = [stack.enter_context(site.serve()) for site in sites]
        calm, shaken = Workspace(tmp_path / "calm"), Workspace(tmp_path / "shaken")
        for workspace in (calm, shaken):
            define(workspace, urls, engine)
        calm.crawl("--jobs", str(SOURCES))
        process = serve(shaken)
        for _ in range(KILLS):
            some_time(dice.uniform(0.5, 3.0))
            victims = below(process)
            if victims:
                victim = dice.choice(victims)
                if victim.is_running():
                    os.kill(victim.pid, signal.SIGKILL)
            if process.poll() is not None:
                process.wait()
                process = serve(shaken)
        deadline = time.monotonic() + PATIENCE
        while not finished(shaken):
            assert time.monotonic() < deadline, (shaken.directory / "serve.log").read_text()
            if process.poll() is not None:
                process = serve(shaken)
            time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        until(lambda: not below(process))
        log = (shaken.directory / "serve.log").read_text()
        assert "Traceback" not in log, log
        assert index_differences(calm, shaken) == []
