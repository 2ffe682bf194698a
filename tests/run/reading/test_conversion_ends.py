"""Crawls that are stopped or killed while documents are converted: nothing is lost, no process stays."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil
import pytest
from support import files
from support.project import ROOT, Workspace, kill_group
from support.site import Site
from support.until import some_time, until

pytestmark = pytest.mark.processes

PDF = "application/pdf"
SLOW = (
    "import sys\n"
    "if 'ultracrawl.content.service.worker' in sys.orig_argv:\n"
    "    import types\n"
    "    module = types.ModuleType('ultracrawl.content.converters.json')\n"
    "    exec('import time\\ndef convert(source, sink): time.sleep(60)', module.__dict__)\n"
    "    sys.modules['ultracrawl.content.converters.json'] = module\n"
)


def workers_of(pid: int) -> list[psutil.Process]:
    """Return the conversion processes below a process; some of the others may end meanwhile."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "ultracrawl.content.service.worker" in child.cmdline():
                found.append(child)
    return found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped twice"])
def test_a_crawl_that_ends_in_a_conversion_goes_on_later(
    site: Site, url: str, workspace: Workspace, how: signal.Signals
) -> None:
    site.page("/", title="Home", links=["/slow.json", "/a.pdf"])
    site.file("/slow.json", b'{"a": "needle"}', "application/json")
    site.file("/a.pdf", files.pdf(), PDF)
    workspace.define(f"{url}/", types=["text/html", "documents", "data"], conversion={"timeout": 60})
    folder = workspace.directory / "slow"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SLOW)
    process = workspace.start("crawl", hosted=True, PYTHONPATH=f"{folder}:{ROOT}")
    try:
        until(lambda: workers_of(process.pid) and site.count("/slow.json"), process)
        workers = workers_of(process.pid)
        some_time(0.5)
        assert workers
        os.kill(process.pid, how)
        if how is signal.SIGTERM:
            some_time(0.5)
            os.kill(process.pid, how)
        process.wait(20)
        _, alive = psutil.wait_procs(workers, timeout=40)
    finally:
        kill_group(process)
    assert not alive
    workspace.crawl()
    assert sorted(workspace.search("needle")) == ["/a.pdf", "/slow.json"]
