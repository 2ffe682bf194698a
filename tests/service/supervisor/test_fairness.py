"""Sources that never answer, never end, or are suspended take no turn from others, in whatever way crawls are run."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.hourly import hourly_source
from support.project import Workspace, kill_group
from support.sentences import sentence
from support.site import Site
from support.until import until

pytestmark = pytest.mark.processes

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HEALTHY = ("h1", "h2")
TRAP_PAGES = 3000


class Fleet:
    """Healthy sources, and bad ones that come before them."""

    def __init__(self, workspace: Workspace, stack: ExitStack) -> None:
        self.workspace, self._stack = workspace, stack
        self.sites: dict[str, Site] = {}
        self.processes: dict[str, Any] = {}
        self.definition: dict[str, Any] = {"sources": {}, "processes": self.processes}

    def add(self, name: str, pages: int = 2, **options: Any) -> Site:
        """Add a source with a site of its own."""
        self.sites[name], self.definition["sources"][name] = hourly_source(
            self._stack, name, pages, **options
        )
        return self.sites[name]

    def add_silent(self) -> None:
        """Add a source that never gets its robots.txt, and one that gets no page."""
        self.add("s1").robots("User-agent: *\nDisallow: /private\n")
        self.add("s2")
        self._held = [self.sites["s1"].hold("/robots.txt"), self.sites["s2"].hold("/")]
        self._stack.callback(self.end_silence)

    def end_silence(self) -> None:
        """Have them answer."""
        for event in self._held:
            event.set()

    def add_healthy(self) -> None:
        for name in HEALTHY:
            self.add(name)

    def start(self, *words: str) -> subprocess.Popen[str]:
        self.workspace.write(self.definition)
        process = self.workspace.start(*words, hosted=False)
        self._stack.callback(lambda: process.poll() is None and kill_group(process))
        return process

    def healthy_are_done(self) -> bool:
        """Whether all pages of the healthy sources were fetched."""
        return all(self.sites[name].count("/1") for name in HEALTHY)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as stack:
        yield Fleet(Workspace(tmp_path), stack)


WAYS = {
    "serve": ("serve", "--port", "0", "--jobs", "2"),
    "continuous": ("crawl", "--continuous", "--jobs", "2"),
    "continuous one": ("crawl", "--continuous", "--jobs", "1"),
}


@pytest.mark.parametrize("way", WAYS)
def test_two_silent_sources_hold_up_nobody_and_end_soon(fleet: Fleet, way: str) -> None:
    fleet.add_silent()
    fleet.add_healthy()
    fleet.processes["lend_after"] = 0.3
    process = fleet.start(*WAYS[way])
    until(fleet.healthy_are_done, process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=50)  # the patience of the service, and `robots.timeout`, are longer
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert "were killed" not in err


def test_two_silent_sources_hold_up_no_other_in_one_crawl_of_all(fleet: Fleet) -> None:
    fleet.add_silent()
    fleet.add_healthy()
    fleet.processes["lend_after"] = 0.3
    process = fleet.start("crawl", "--jobs", "2", "--json")
    until(fleet.healthy_are_done, process)
    fleet.end_silence()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert {run["source"]: run["indexed"] for run in json.loads(out)["runs"]}.keys() == fleet.sites.keys()
    assert len(fleet.workspace.search("needle")) == 2 * len(fleet.sites)


def test_nor_in_a_schedule_that_is_launched_by_hand(fleet: Fleet) -> None:
    fleet.add_silent()
    fleet.add_healthy()
    fleet.processes |= {"lend_after": 0.3, "jobs": 1}
    for source in fleet.definition["sources"].values():
        del source["refresh"]
    rarely = {"sources": list(fleet.sites), "cron": "0 0 29 2 *"}
    fleet.definition["schedules"] = {"all": rarely}
    process = fleet.start("schedule", "launch", "all")
    until(fleet.healthy_are_done, process)
    fleet.end_silence()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert all(f"{name}: run " in out for name in fleet.sites)


@pytest.mark.parametrize("way", ["serve", "continuous one"])
def test_two_endless_sources_make_room_after_their_turn(fleet: Fleet, way: str) -> None:
    for name in ("t1", "t2"):
        fleet.add(name, TRAP_PAGES, politeness={"delay": 0.05, "concurrency": 1})
    fleet.add_healthy()
    fleet.processes["turn"] = "1 s"
    process = fleet.start(*WAYS[way])
    until(fleet.healthy_are_done, process)
    fetched = {name: len(fleet.sites[name].requests) for name in ("t1", "t2")}
    until(lambda: all(len(fleet.sites[name].requests) > had for name, had in fetched.items()), process)


def test_suspended_sources_hold_no_slot(fleet: Fleet) -> None:
    always = {f"{day}:00-{after}:00": "suspend" for day, after in pairwise((*DAYS, DAYS[0]))}
    suspended = [fleet.add(name, politeness={"variable_delay": always}) for name in ("s1", "s2")]
    fleet.add_healthy()
    fleet.processes["lend_after"] = 0.3
    process = fleet.start(*WAYS["continuous"])
    until(fleet.healthy_are_done, process)
    assert not any(site.requests for site in suspended)


def test_who_waits_for_a_slot_is_waiting(fleet: Fleet) -> None:
    fleet.add_silent()
    fleet.add_healthy()
    process = fleet.start("crawl", "--continuous", "--jobs", "2")

    def states() -> dict[str, str]:
        rows = fleet.workspace.command("status", "--json").json["sources"]
        return {row["source"]: row["state"] for row in rows}

    waiting = dict.fromkeys(HEALTHY, "waiting")
    until(lambda: states() == {"s1": "running", "s2": "running"} | waiting, process)
    told = fleet.workspace.command("status").out
    assert told.count(sentence("supervisor.waits_for_a_slot")) == len(HEALTHY)
    assert "did not end" not in told
