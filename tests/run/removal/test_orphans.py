"""Orphans in real crawls: documents that nothing leads to any more."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site


def define(
    workspace: Workspace, url: str, after: int = 2, *, delete: bool = False, mode: str = "scratch"
) -> None:
    workspace.define(
        f"{url}/",
        refresh={"mode": mode},
        orphans={"after": after, "delete": delete},
        sitemaps={"use": False},
    )


@pytest.fixture
def unlinked(site: Site, url: str, workspace: Workspace) -> Site:
    """A hub that led to `/kept` and `/lost`, and leads to `/kept` only after the first cycle."""
    site.page("/", title="Home", links=["/hub"], text="words")
    site.page("/hub", title="Hub", links=["/kept", "/lost"], text="words")
    site.page("/kept", title="Kept", text="words")
    site.page("/lost", title="Lost", links=["/below"], text="words")
    site.page("/below", title="Below", text="words")
    return site


def crawl_until_orphaned(site: Site, workspace: Workspace) -> None:
    workspace.crawl()
    site.change("/hub", links=["/kept"])
    workspace.crawl()
    assert set(workspace.search("words")) == {"/", "/hub", "/kept", "/lost", "/below"}
    site.reset()


def test_fast_63_an_orphan_is_asked_for_and_stays_if_the_server_has_it(
    unlinked: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    crawl_until_orphaned(unlinked, workspace)
    workspace.crawl()
    assert unlinked.statuses("/lost") == [304], "not seen for two cycles"
    assert unlinked.statuses("/below") == [304]
    assert "/lost" in workspace.search("words")
    unlinked.reset()
    workspace.crawl()
    assert unlinked.count("/lost") == 0, "it counts as seen"


def test_fast_63_an_orphan_that_the_server_has_no_more_is_deleted(
    unlinked: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    crawl_until_orphaned(unlinked, workspace)
    unlinked.remove("/lost")
    run = workspace.crawl().run
    assert run["outcomes"]["GONE"] == 1
    assert set(workspace.search("words")) == {"/", "/hub", "/kept", "/below"}


def test_fast_63_an_orphan_that_answers_with_an_error_stays(
    unlinked: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url)
    crawl_until_orphaned(unlinked, workspace)
    unlinked.respond("/lost", status=500)
    workspace.crawl()
    assert "/lost" in workspace.search("words")


def test_fast_64_delete_takes_orphans_out_without_asking(
    unlinked: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, delete=True)
    crawl_until_orphaned(unlinked, workspace)
    run = workspace.crawl().run
    assert (unlinked.count("/lost"), unlinked.count("/below")) == (0, 0)
    assert (run["orphans"], run["deleted"]) == (2, 2)
    assert set(workspace.search("words")) == {"/", "/hub", "/kept"}
    workspace.crawl()
    assert "/lost" not in workspace.urls()


def test_fast_64_a_hub_that_fails_protects_its_children(
    unlinked: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, delete=True)
    workspace.crawl()
    unlinked.respond("/hub", status=503)
    for _ in range(3):
        assert workspace.crawl().run["orphans"] == 0
    assert set(workspace.search("words")) == {"/", "/hub", "/kept", "/lost", "/below"}


def test_fast_63_nothing_is_an_orphan_before_its_cycles_are_over(
    unlinked: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, after=5, delete=True)
    crawl_until_orphaned(unlinked, workspace)
    assert workspace.crawl().run["orphans"] == 0
    assert "/lost" in workspace.search("words")
