"""Fixtures of the crawl tests: real crawls of a site on loopback, by the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project import Workspace
from support.site import Site


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)
