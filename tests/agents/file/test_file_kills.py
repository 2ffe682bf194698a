"""SIGKILL while folders are listed and while files are read: nothing lost, nothing left over."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.listing_kills import shake
from support.project import Workspace
from support.same_index import index_differences

FILES = 3000
MESSAGES = 40


def put_mailbox(docs: Path, number: int) -> None:
    """Write a mailbox some messages of which went, came and changed since the last number."""
    (docs / "box.mbox").write_text(
        "".join(
            f"From a@x.example\nMessage-ID: <{one}>\nSubject: M{one}\n\ncommon {number // (1 + one % 3)}\n\n"
            for one in range(number, number + MESSAGES)
        )
    )


def changes(docs: Path, dice: random.Random) -> Iterator[None]:
    """Write, remove and change files, each time that the next one is asked for."""
    for number in range(FILES):
        (docs / f"{number % 40}" / f"{number}.txt").unlink(missing_ok=True)
        for one in dice.sample(range(FILES), FILES // 10):
            (docs / f"{one % 40}" / f"{one}.txt").write_text(f"common change{number} {one}")
        put_mailbox(docs, number)
        yield


@pytest.mark.night
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [2, 20])
def test_kills_while_listing_and_while_fetching_leave_the_index_of_an_undisturbed_crawl(
    tmp_path: Path, kills: int
) -> None:
    docs, calm, workspace = tmp_path / "docs", Workspace(tmp_path / "calm"), Workspace(tmp_path / "shaken")
    source = {
        "type": "file",
        "paths": [str(docs)],
        "types": ["text/plain", "mail"],
        "deletion": {"percent": 100},
    }
    for one in (calm, workspace):
        one.directory.mkdir()
        one.write({"sources": {"share": source}})
    for number in range(FILES):
        file = docs / f"{number % 40}" / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"common word{number}")
    dice = random.Random(19)
    ways = changes(docs, dice)
    hit = shake(workspace, lambda: next(ways), kills, dice)
    assert min(hit.values()) >= kills, hit
    for _ in range(2):  # the first only ends what was listed before the last change
        workspace.crawl(timeout=300)
    calm.crawl(timeout=300)
    assert index_differences(calm, workspace) == []
    assert workspace.crawl(timeout=300).run["fetched"] == 0
