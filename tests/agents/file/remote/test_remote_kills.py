"""SIGKILL while remote folders are listed and while their files are read: nothing lost, nothing left over."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.listing_kills import shake
from support.project import Workspace
from support.remote_site import RemoteSite
from support.same_index import index_differences

FILES = 1500


def name_of(number: int) -> str:
    return f"docs/{number % 30}/{number}.txt"


def changes(site: RemoteSite, dice: random.Random) -> Iterator[None]:
    """Write, delete and change files, each time that the next change is asked for."""
    for number in range(FILES):
        for one in dice.sample(range(FILES), FILES // 8):
            site.put(name_of(one), f"common change{number} {one}")
        site.put(name_of(number))
        site.delete(name_of(number))
        yield


@pytest.mark.night
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [2, 20])
def test_kills_while_listing_and_while_fetching_leave_the_index_of_an_undisturbed_crawl(
    tmp_path: Path, site: RemoteSite, kills: int
) -> None:
    calm, workspace = Workspace(tmp_path / "calm"), Workspace(tmp_path / "shaken")
    for number in range(FILES):
        site.put(name_of(number), f"common word{number}")
    source = {"type": "file", **site.options(), "types": ["text/plain"], "deletion": {"percent": 100}}
    for one in (calm, workspace):
        one.directory.mkdir()
        one.write({"sources": {"share": source}})
    dice = random.Random(34)
    ways = changes(site, dice)
    hit = shake(workspace, lambda: next(ways), kills, dice)
    assert min(hit.values()) >= kills, hit
    for _ in range(2):  # the first only ends what was listed before the last change
        workspace.crawl(timeout=300)
    calm.crawl(timeout=300)
    assert index_differences(calm, workspace) == []
    assert workspace.crawl(timeout=300).run["fetched"] == 0
