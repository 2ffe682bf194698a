"""SIGKILL while a source is listed and while its documents are fetched: nothing lost, nothing left over."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from support.agent_system import AgentSystem
from support.project import LOOPBACK, Workspace, kill_group
from support.shelf import Shelf
from support.site import Site
from support.until import some_time, until

pytestmark = pytest.mark.servers  # much time

ENTRIES = 60


def path() -> dict[str, str]:
    """Return where processes find the kind, if one is installed."""
    return {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}


def hits(workspace: Workspace, query: str) -> dict[str, str]:
    found = workspace.command("search", "--as-typed", query, "--limit", "1000", "--json", **path()).json[
        "hits"
    ]
    return {hit["url"]: hit["title"] for hit in found}


def killed(workspace: Workspace, calls: Path, after: float) -> bool:
    """Begin a crawl and kill it some time after its lister was asked; returns whether it was at work by then."""
    calls.unlink(missing_ok=True)
    process = workspace.start("crawl", "s", "--json", **path())
    until(lambda: calls.exists() or process.poll() is not None)
    some_time(after)
    alive = process.poll() is None
    kill_group(process)
    process.communicate()
    return alive


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.night)])
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
        kills -= killed(workspace, kind.folder / "calls.txt", chance.uniform(0.0, 0.6))
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


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.night)])
@pytest.mark.parametrize("slow", ["listing", "fetching"])
def test_an_agent_whose_crawls_are_killed_has_the_index_of_one_undisturbed(
    workspace: Workspace, site: Site, url: str, kills: int, slow: str
) -> None:
    chance, folder = random.Random(2026), workspace.directory
    system = AgentSystem(folder)
    source = {"type": "agent", "class": "tracker.Tracker", "boundary": LOOPBACK, "deletion": {"percent": 100}}
    pauses = {"listing": 0.02, "fetching": 0}
    source["politeness"] = {"delay": 0.05 if slow == "fetching" else 0}

    def put(documents: list[dict[str, str]], pause: float = 0) -> None:
        system.put(*documents)
        workspace.write({"sources": {"s": {**source, "parameters": {"folder": str(folder), "pause": pause}}}})

    documents = []
    for number in range(ENTRIES):
        shown = {"display_url": f"https://x.example/{number}", "title": f"T {number}"}
        if number % 3:
            documents.append({**shown, "text": f"common word{number}"})
        else:
            site.page(f"/{number}", text=f"common word{number}")
            documents.append({**shown, "access_url": f"{url}/{number}"})
    put(documents[: ENTRIES // 2])
    workspace.command("crawl", "s", timeout=120)
    for _ in range(10 * kills):
        put(documents[5:], pauses[slow])
        kills -= killed(workspace, folder / "calls.log", chance.uniform(0.0, 0.6))
        if not kills:
            break
        documents[chance.randrange(5, ENTRIES)]["title"] += " again"
    assert not kills, "crawls were over too early"
    put(documents[5:])
    for _ in range(3):
        last = workspace.command("crawl", "s", "--json", timeout=120)
        assert last.code == 0, last.err
    assert hits(workspace, "common") == {one["display_url"]: one["title"] for one in documents[5:]}
    assert {name: number for name, number in last.run["outcomes"].items() if number} == {
        "NOT_MODIFIED": len(documents[5:])
    }
