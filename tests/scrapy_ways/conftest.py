"""Fixtures of the tests that run sources by Scrapy's own means."""

from pathlib import Path

import pytest
from scrapy_ways.runs import Desk
from support.site import Site


@pytest.fixture
def site() -> Site:
    """Return a site of three pages, one of them forbidden by robots.txt."""
    site = Site()
    site.robots("User-agent: *\nDisallow: /private\n")
    site.page("/", title="Home", links=["/a", "/private"], text="welcome")
    site.page("/a", title="Vacation", text="how to request a vacation")
    site.page("/private", title="Private", text="board minutes")
    return site


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
