"""A project that was crawled in this process, and its pages requested without sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.crawled import PORT, CrawledProjects
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import Pages, bird_site, define_project


@pytest.fixture
def site() -> NetworkSite:
    return bird_site()


@pytest.fixture
def url(site: NetworkSite) -> Iterator[str]:
    with site.serve(port=PORT) as address:
        yield address


@pytest.fixture
def workspace(tmp_path: Path) -> InProcessWorkspace:
    return InProcessWorkspace(tmp_path)


@pytest.fixture
def make_stored(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> Callable[..., Pages]:
    """Crawl the site of the test, store its responses, and return its pages."""

    def make(head: dict[str, Any] | None = None, **options: Any) -> Pages:
        define_project(workspace, url, head or {}, **({"storage": {"keep": True}} | options))
        crawled_projects.crawl(workspace, site)
        return Pages(workspace)

    return make


@pytest.fixture
def pages(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> Pages:
    workspace.define(f"{url}/")
    crawled_projects.crawl(workspace, site)
    return Pages(workspace)


COLOURS = ("black", "white", "grey", "brown", "green", "blue")


@pytest.fixture
def many(workspace: InProcessWorkspace, crawled_projects: CrawledProjects) -> Iterator[Pages]:
    """Twelve pages with two values of one attribute, and six of another."""
    site = NetworkSite()
    site.page("/", title="Start", links=[f"/{number}" for number in range(12)], text="all of them")
    for number in range(12):
        family, colour = "wader" if number % 2 else "duck", COLOURS[number % 6]
        head = f'<meta name="family" content="{family}"><meta name="colour" content="{colour}">'
        site.page(f"/{number}", title=f"Number {number}", text=f"a bird of the lake {number}", head=head)
    with site.serve(port=PORT) as url:
        options = {"attributes": {"family": "Family", "colour": "Colour"}}
        define_project(workspace, url, {"attributes": {"Family": "string", "Colour": "string"}}, **options)
        crawled_projects.crawl(workspace, site)
        yield Pages(workspace)
