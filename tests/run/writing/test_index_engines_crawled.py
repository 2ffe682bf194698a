"""A crawl with each index engine on disk: what changes and goes on the site does so in the index."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.in_process import InProcessWorkspace
from support.project import LOOPBACK, Workspace
from support.site import Site

ENGINES = ["whoosh", "tantivy"]


def define(workspace: Workspace, url: str, engine: str, **project: object) -> None:
    source = {
        "start_urls": [url],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0},
        "groups": ["site"],
        "attributes": {"topic": "Topic"},
    }
    index = {"path": "index", "engine": engine}
    workspace.write(
        {"index": index, "attributes": {"Topic": "string"}, **project, "sources": {"site": source}}
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_recrawling_keeps_the_index_in_step(site: Site, url: str, workspace: Workspace, engine: str) -> None:
    site.page("/", links=["/a", "/b"], text="start")
    site.page("/a", text="the herons are waiting", head='<meta name="topic" content="Birds">')
    site.page("/b", text="egret")
    define(workspace, url, engine)
    workspace.crawl()
    assert workspace.indexed() == ["/", "/a", "/b"]
    assert workspace.search("heron") == ["/a"]
    assert workspace.search("--where", "Topic=birds", "--group", "site") == ["/a"]
    site.page("/a", text="an egret now")
    site.remove("/b")
    workspace.crawl()
    assert workspace.indexed() == ["/", "/a"]
    assert workspace.search("egret") == ["/a"]
    assert workspace.command("index", "check").code == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_an_attribute_defined_later_costs_no_document(
    site: Site, url: str, workspace: Workspace, engine: str
) -> None:
    site.page("/", links=["/a"], text="heron")
    site.page("/a", text="heron and stork")
    define(workspace, url, engine)
    workspace.crawl()
    define(workspace, url, engine, attributes={"Topic": "string", "Price": "number"})
    assert sorted(workspace.search("heron")) == ["/", "/a"]
    assert workspace.search("heron", "--where", "Price>1", "--sort", "Price") == []
    site.page("/new", text="heron and crane")
    site.page("/", links=["/a", "/new"], text="heron again")
    workspace.crawl()
    assert sorted(workspace.search("heron")) == ["/", "/a", "/new"]


def test_two_collections_of_one_site(site: Site, url: str, tmp_path: Path) -> None:
    site.page("/", text="heron")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        workspace = InProcessWorkspace(tmp_path / name)
        define(workspace, url, "whoosh")
        workspace.crawl()
        assert workspace.indexed() == ["/"]
