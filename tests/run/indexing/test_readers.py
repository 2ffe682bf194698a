"""Who may see the documents of a source, as its definition says it."""

from __future__ import annotations

from support.project import Workspace
from support.site import Site


def test_the_option_says_who_sees_a_source_and_a_change_of_it_reaches_unchanged_pages(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="heron")

    def found_with(**options: object) -> list[int]:
        workspace.define(f"{url}/", **options)
        workspace.crawl()
        ways = ((), ("--principal", "staff"), ("--all-principals",))
        return [workspace.command("search", "--json", "heron", *way).json["total"] for way in ways]

    assert found_with() == [1, 1, 1]
    assert found_with(acl=["boss", "staff"]) == [0, 1, 1]
    assert workspace.command("index", "dump").json["acl"] == ["boss", "staff"]
    assert found_with(acl="boss") == [0, 0, 1]
    assert found_with() == [1, 1, 1]
