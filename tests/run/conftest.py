"""Fixtures of the crawl tests: commands in the process of the tests, and sites that answer there without sockets.

A test that is about processes or sockets is marked with `processes`: its commands have processes of their own, as a
user would start them, and its sites are served over loopback. So are those of tests that need servers or much time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support import clock
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import Workspace
from support.site import Site


@pytest.fixture
def site(processes: bool) -> Site:
    return Site() if processes else NetworkSite()


@pytest.fixture
def workspace(processes: bool, tmp_path: Path) -> Workspace:
    clock.take_back_leaps()
    return Workspace(tmp_path) if processes else InProcessWorkspace(tmp_path)
