"""What a page enters is counted on a real crawl."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.project import ROOT, Workspace
from support.site import Site

MAX_MODULES = 180
"""Maximum number of modules that a page without anything special enters, and timers meanwhile on a busy machine; lower
it when pages enter fewer."""


def test_each_page_of_a_crawl_is_counted(tmp_path: Path) -> None:
    site, workspace = Site(), Workspace(tmp_path)
    site.page("/", links=["/a", "/b"])
    site.page("/a")
    site.page("/b")
    with site.serve() as url:
        workspace.define(url)
        ended = walked(workspace.directory)
    walks = re.findall(r"(\d+) modules +(\d+) moves +(\d+) calls  NEW  (\S+)", ended)
    assert f"{url}/" in [address for *_, address in walks], ended
    for modules, moves, calls, _ in walks:
        assert 20 < int(modules) <= MAX_MODULES
        assert int(modules) < int(moves) < int(calls)


def walked(folder: Path) -> str:
    tool = [sys.executable, str(ROOT / "tools" / "page_walk.py"), str(folder)]
    return subprocess.run(tool, capture_output=True, text=True, timeout=60, check=False).stderr
