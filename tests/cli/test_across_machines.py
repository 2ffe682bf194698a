"""Verbs about a crawl that runs on another machine: two folders with the same definitions, and one database."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from stores.conftest import a_schema
from support import clock
from support.elsewhere import Elsewhere
from support.hourly import hourly_source
from support.project import Ended, kill_group
from support.until import PATIENCE, until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(300)]
PAGES = 9
FILTERS = """
<Filter name="enumeration-default">
   Enumerate enable=true fn=enumerate-urls max=1024 type=text/html
</Filter>
<Filter name="generation-default">
   Generate fn=extract-full-text
   Generate fn=extract-html-text truncate=4096 type=text/html
</Filter>
"""
LEASE = "2"
"""Seconds of a lease."""
LONG = "3000"
"""Those of one that nobody waits for."""


class Pair:
    """Two machines: `a` crawls, and `b` looks and gives orders."""

    def __init__(self, folder: Path, options: dict[str, str], stack: ExitStack) -> None:
        self.a, self.b = (
            Elsewhere(folder / name, f"machine-{name}", ULTRACRAWL_LEASE_SECONDS=LEASE) for name in "ab"
        )
        self.site, source = hourly_source(
            stack, "slow", PAGES, limits={"timeout": 300}, filters={"file": "filter.conf"}
        )
        definition = {
            "state": {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]},
            "index": {"path": str(folder / "index")},
            "sources": {"slow": source},
        }
        for machine in (self.a, self.b):
            machine.write(definition)
            (machine.directory / "filter.conf").write_text(FILTERS)
        self._stack = stack

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        """Start a command on machine a."""
        process = self.a.start(*words, **env)
        self._stack.callback(lambda: kill_group(process))
        return process

    def ask(self, *words: str, code: int = 0) -> Ended:
        """Run a command on machine b."""
        ended = self.b.command(*words)
        assert ended.code == code, ended.out + ended.err
        return ended

    def status(self) -> dict[str, Any]:
        (row,) = self.ask("status", "slow", "--json").json["sources"]
        return dict(row)


@pytest.fixture
def pair(tmp_path: Path, database: str) -> Iterator[Pair]:
    with a_schema(database) as options, ExitStack() as stack:
        yield Pair(tmp_path, options, stack)


def test_a_crawl_is_seen_steered_and_taken_over_from_another_machine(pair: Pair) -> None:
    first, second = pair.site.hold("/2"), pair.site.hold("/6", begins=True)
    crawl = pair.start("crawl", "slow", "--json")
    until(lambda: pair.site.count("/2"), crawl)
    assert (pair.status()["state"], pair.status()["machine"]) == ("running", "machine-a")
    assert "machine-a" in pair.ask("status", "slow").out
    assert "machine-a" in pair.ask("crawl", "slow", code=2).err
    assert "machine-a" in pair.ask("remove", "slow", "--yes", code=2).err
    assert pair.ask("pause", "slow", "--no-wait", "--json").json["sources"][0]["command"] == "pause"
    until(lambda: pair.status()["state"] == "pausing", crawl)
    first.set()
    until(lambda: pair.status()["state"] == "paused", crawl)
    rows = {row["access_url"].rpartition("/")[2]: row["outcome"] for row in pair.ask("urls", "--json").lines}
    assert (rows["2"], rows["8"]) == ("NEW", "QUEUED")
    home = next(row["access_url"] for row in pair.ask("urls", "--json").lines if row["depth"] == 0)
    assert pair.ask("explain", f"{home}2", "--json").json
    (forecast,) = pair.ask("plan", "slow", "--json").json["sources"]
    assert forecast["resumes"]
    (resumed,) = pair.ask("resume", "slow", "--json").json["sources"]
    assert (resumed["obeyed"], resumed["state"]) == (True, "running")
    until(lambda: pair.site.count("/6"), crawl)
    pair.ask("stop", "slow", "--no-wait")
    until(lambda: pair.status()["state"] == "stopping", crawl)
    second.set()
    assert crawl.wait(PATIENCE) == 1, crawl.communicate()
    assert (pair.status()["state"], pair.status()["machine"]) == ("unfinished", None)
    assert not pair.site.count("/8")
    pair.ask("crawl", "slow")
    outcomes = [row["outcome"] for row in pair.ask("urls", "--json").lines]
    assert outcomes == ["NEW"] * (PAGES + 1), (outcomes, pair.site.paths())
    pages = pair.site.page_paths()
    assert {path: pair.site.count(path) for path in pages} == dict.fromkeys(pages, 1)
    assert len(pair.a.search("needle")) == len(pair.b.search("needle")) == PAGES
    removed = pair.ask("remove", "slow", "--yes", "--json").json
    assert (removed["documents"], removed["urls"]) == (PAGES + 1, PAGES + 1)
    assert pair.a.command("status", "slow", "--json").json["sources"][0]["state"] == "never crawled"
    assert pair.a.crawl().run["outcomes"] == {"NEW": PAGES + 1}
    assert len(pair.b.search("needle")) == PAGES


def test_a_service_that_died_elsewhere_counts_until_its_lease_is_over(pair: Pair) -> None:
    hold = pair.site.hold("/2")
    service = pair.start("crawl", "--continuous", ULTRACRAWL_LEASE_SECONDS=LONG)
    until(lambda: pair.site.count("/2"), service)
    kill_group(service)
    hold.set()
    row = pair.status()
    assert (row["state"], row["machine"], row["kept"]) == ("running", "machine-a", True)
    assert row["lease_ends"]
    assert row["lease_ends"][:15] in pair.ask("status", "slow").out
    pair.ask("remove", "slow", "--yes", code=2)
    clock.leap(float(LONG) + 1)
    row = pair.status()
    assert (row["state"], row["machine"], row["kept"]) == ("unfinished", None, False)
    assert row["lease_ends"] is None
    pair.ask("crawl", "slow")
    assert {row["outcome"] for row in pair.ask("urls", "--json").lines} == {"NEW"}
    pair.ask("remove", "slow", "--yes")


def test_a_robot_takes_the_orders_of_another_machine(pair: Pair) -> None:
    first, second = pair.site.hold("/2"), pair.site.hold("/6", begins=True)
    robot = pair.start("robot", "start", "--source", "slow")
    until(lambda: pair.site.count("/2"), robot)
    status = pair.ask("robot", "status", "--json").json
    assert (status["state"], status["machine"]) == ("Running", "machine-a")
    assert "machine-a" in pair.ask("robot", "status").out
    assert "machine-a" in pair.ask("robot", "start", code=2).err
    pair.ask("robot", "pause", "--no-wait")
    until(lambda: pair.status()["state"] == "pausing", robot)
    first.set()
    until(lambda: pair.ask("robot", "status", "--json").json["state"] == "Paused", robot)
    assert pair.ask("robot", "resume", "--json").json["state"] == "Running"
    until(lambda: pair.site.count("/6"), robot)
    pair.ask("robot", "stop", "--no-wait")
    until(lambda: pair.status()["state"] == "stopping", robot)
    second.set()
    robot.wait(PATIENCE)
    assert pair.ask("robot", "status", "--json").json["state"] == "Off"
    assert not pair.site.count("/8")
    assert pair.ask("robot", "report", "waiting", "--json").lines
    pair.ask("robot", "start")
    outcomes = [row["outcome"] for row in pair.ask("urls", "--json").lines]
    assert outcomes == ["NEW"] * (PAGES + 1), (outcomes, pair.site.paths())
    pages = pair.site.page_paths()
    assert {path: pair.site.count(path) for path in pages} == dict.fromkeys(pages, 1)
