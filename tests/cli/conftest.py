"""Fixtures of the crawl tests: real crawls of a site on loopback, by the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project import Workspace
from support.site import Site


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def url(site: Site) -> Iterator[str]:
    with site.serve() as address:
        yield address


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)
