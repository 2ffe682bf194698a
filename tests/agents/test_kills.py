"""SIGKILL while a source is listed and while its documents are fetched: nothing lost, nothing left over."""

from __future__ import annotations

import os
import random
import time

import pytest
from support.project import Workspace, kill_group
from support.shelf import Shelf

pytestmark = pytest.mark.servers  # much time

ENTRIES = 60


def path() -> dict[str, str]:
    """Return where processes find the kind."""
    return {"PYTHONPATH": os.environ["PYTHONPATH"]}


def hits(workspace: Workspace, query: str) -> dict[str, str]:
    found = workspace.command("search", query, "--limit", "1000", "--json", **path()).json["hits"]
    return {hit["url"]: hit["title"] for hit in found}


def killed(workspace: Workspace, kind: Shelf, after: float) -> bool:
    """Begin a crawl and kill it some time after its lister was asked; returns whether it was at work by then."""
    calls = kind.folder / "calls.txt"
    calls.unlink(missing_ok=True)
    process = workspace.start("crawl", "s", "--json", **path())
    end = time.monotonic() + 60
    while not calls.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(after)
    alive = process.poll() is None
    kill_group(process)
    process.communicate()
    return alive


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.soak)])
@pytest.mark.parametrize("slow", ["pause", "fetch_pause"])
def test_killed_again_and_again_the_index_is_as_if_undisturbed(
    workspace: Workspace, kind: Shelf, kills: int, slow: str
) -> None:
    chance = random.Random(2026)
    workspace.write({"sources": {"s": {"type": "shelf", "shelf": "shelf"}}})
    entries = [
        {
            **kind.write(f"d{number}", f"common word{number}"),
            "content_type": "text/plain",
            "title": f"T {number}",
        }
        if number % 3
        else {
            "name": f"d{number}",
            "body": f"common word{number}",
            "title": f"T {number}",
            "content_type": "text/plain",
        }
        for number in range(ENTRIES)
    ]
    kind.put(*entries[: ENTRIES // 2])
    workspace.command("crawl", "s", timeout=120, **path())
    left = entries[5:]
    kind.put(*left, **{slow: 0.05})
    for _ in range(10 * kills):
        kills -= killed(workspace, kind, chance.uniform(0.0, 0.6))
        if not kills:
            break
        # What was done is to be done again: else the crawl is over before the last kill.
        number = chance.randrange(5, ENTRIES)
        entries[number]["title"] = f"T {number} again {kills}"
        entries[number]["validators"] = f"again {kills}"
        kind.put(*entries[5:], **{slow: 0.05})
    assert not kills, "crawls were over too early"
    kind.put(*entries[5:])
    # What changed in front of the place where a killed run goes on is found by the next one.
    for _ in range(3):
        last = workspace.command("crawl", "s", "--json", timeout=120, **path())
        assert last.code == 0, last.err
    assert hits(workspace, "common") == {f"shelf://x/{one['name']}": one["title"] for one in entries[5:]}
    assert {name: number for name, number in last.run["outcomes"].items() if number} == {
        # Documents without validators are asked for each time.
        "NOT_MODIFIED": sum("validators" in one for one in entries[5:]),
        "UNMODIFIED": sum("validators" not in one for one in entries[5:]),
    }
