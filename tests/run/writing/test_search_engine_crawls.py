"""A source feeds a search engine beside an index, by sections, over runs in which its pages change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.project import LOOPBACK, Workspace
from support.search_engines import ENGINES, Engine
from support.server import answering
from support.site import Site

pytestmark = pytest.mark.processes


@pytest.fixture(params=["meilisearch", "typesense"])
def engine(request: pytest.FixtureRequest) -> Iterator[tuple[str, Engine, str]]:
    engine = ENGINES[request.param]()
    with answering(engine.answer) as address:
        yield request.param, engine, address


def test_runs_with_and_without_changes(
    site: Site, url: str, workspace: Workspace, engine: tuple[str, Engine, str]
) -> None:
    kind, held, server = engine
    site.page("/", title="Home", links=["/a", "/b"], text="start")
    site.page("/a", title="First", text="one")
    site.page("/b", title="Second", text="two")
    there = {
        "type": kind,
        "url": server,
        "key": "k3y-s3cret",
        "records": "sections",
        "networks": ["127.0.0.0/8"],
    }
    source = {
        "start_urls": [f"{url}/"],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0},
        "feeding": {
            "destinations": {"index": {"index": "default", "primary": True}, "box": {"destination": "out"}}
        },
    }
    workspace.write({"destinations": {"out": there}, "sources": {"site": source}})

    def titles() -> dict[str, str]:
        return {one["url"].removeprefix(url): one["title"] for one in held.records.values()}

    run = workspace.crawl().run
    assert (run["problems"], titles()) == ([], {"/": "Home", "/a": "First", "/b": "Second"})
    for _ in range(2):
        held.came.clear()
        workspace.crawl()
        assert held.came == [], "what is unchanged is not sent"
    site.page("/", title="Home", links=["/a"], text="start anew")
    site.page("/a", title="First and last", text="one")
    site.gone("/b")
    workspace.crawl()
    assert titles() == {"/": "Home", "/a": "First and last"}
    shown = "".join(path.read_text(errors="replace") for path in workspace.directory.rglob("*.log"))
    assert "k3y-s3cret" not in shown + workspace.command("feeding", "status").out
