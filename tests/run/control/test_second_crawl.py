"""A source is crawled by one process at a time, also where its own store does not tell."""

from __future__ import annotations

from contextlib import closing

from support.project import Workspace
from support.site import Site

from ultracrawl.stores.sqlite.engine import SqliteEngine


def test_a_crawl_is_refused_while_the_lease_of_another_one_of_its_source_lives(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/")
    with closing(SqliteEngine().open_sites(workspace.directory / "var/state")) as sites:
        crawl = sites.register_crawl("site", 20.0)
        ended = workspace.command("crawl")
        assert ended.code == 2
        assert "'site'" in ended.err
        assert site.requests == []
        sites.close_crawl(crawl)
    assert workspace.crawl().run["outcomes"] == {"NEW": 1}
