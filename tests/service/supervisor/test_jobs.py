"""`crawl --jobs`: several sources at once, each in a process of its own, whatever becomes of one of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.named import named
from support.project import LOOPBACK, Workspace
from support.site import Site
from support.until import until

pytestmark = pytest.mark.processes

NAMES = ("a", "b", "c")
PAGES = 6


class Three:
    """Three sources, each with a site of its own."""

    def __init__(self, workspace: Workspace, stack: ExitStack) -> None:
        self.workspace = workspace
        self.sites = {name: Site() for name in NAMES}
        sources: dict[str, Any] = {}
        for name, site in self.sites.items():
            site.page("/", title="Home", links=[f"/{number}" for number in range(PAGES)], text=f"of {name}")
            for number in range(PAGES):
                site.page(f"/{number}", title=f"{name} {number}", text=f"needle {name}{number}")
            sources[name] = {
                "start_urls": [f"{stack.enter_context(site.serve())}/"],
                "boundary": LOOPBACK,
                "politeness": {"delay": 0, "concurrency": 1},
                "limits": {"retries": 0},
            }
        self.definition: dict[str, Any] = {"sources": sources}
        workspace.write(self.definition)

    def children(self, process: subprocess.Popen[str]) -> dict[str, int]:
        """Return the processes of crawls by source, from the signs that the crawls show."""
        found = {}
        for name in NAMES:
            sign = self.workspace.directory / "var" / "state" / f"{name}.sqlite.crawl"
            if sign.exists() and (text := sign.read_text().strip()):
                found[name] = json.loads(text)["pid"]
        return found


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Three]:
    with ExitStack() as stack:
        yield Three(Workspace(tmp_path), stack)


def runs_of(out: str) -> dict[str, dict[str, Any]]:
    return {run["source"]: run for run in json.loads(out)["runs"]}


@pytest.mark.parametrize("jobs", ["3", ""], ids=["asked", "default"])
def test_sources_are_crawled_at_the_same_time(three: Three, jobs: str) -> None:
    held = {name: site.hold("/3") for name, site in three.sites.items()}
    process = three.workspace.start("crawl", "--json", ULTRACRAWL_JOBS=jobs)
    until(lambda: all(site.count("/3") for site in three.sites.values()), process)
    for event in held.values():
        event.set()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert list(runs_of(out)) == list(NAMES), "in the order of the definition"
    assert {name: run["indexed"] for name, run in runs_of(out).items()} == dict.fromkeys(NAMES, PAGES + 1)
    assert len(three.workspace.search("needle")) == 3 * PAGES


def test_the_summary_adds_up(three: Three) -> None:
    ended = three.workspace.command("crawl", "--jobs", "2")
    assert ended.code == 0, ended.err
    total, next_step = ended.out.splitlines()[-2:]
    assert total.startswith("3 sources: 21 URLs, 21 fetched, 21 indexed, 0 deleted")
    assert "ultracrawl search" in next_step


def test_ctrl_c_ends_all_cleanly_and_the_next_goes_on(three: Three) -> None:
    held = {name: site.hold("/3") for name, site in three.sites.items()}
    process = three.workspace.start("crawl", "--jobs", "3", "--json")
    until(lambda: all(site.count("/3") for site in three.sites.values()), process)
    os.killpg(process.pid, signal.SIGINT)  # pending for each crawl before an answer is
    for event in held.values():
        event.set()
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode == 1
    assert {run["interrupted"] for run in runs_of(out).values()} == {True}
    again = three.workspace.command("crawl", "--jobs", "3", "--json")
    assert again.code == 0, again.err
    assert {run["resumed"] for run in again.json["runs"]} == {True}
    assert len(three.workspace.search("needle")) == 3 * PAGES


def test_one_that_is_killed_has_failed_and_the_others_go_on(three: Three) -> None:
    for name, options in three.definition["sources"].items():
        told = three.workspace.directory / f"{name}.told"
        line = f"echo $ULTRACRAWL_SOURCE $ULTRACRAWL_RESULT $ULTRACRAWL_PROBLEM > {told}"
        options["completion"] = {"command": ["/bin/sh", "-c", line], "after": "failure"}
    three.workspace.write(three.definition)
    held = {name: site.hold("/3") for name, site in three.sites.items()}
    process = three.workspace.start("crawl", "--jobs", "3")
    until(lambda: all(site.count("/3") for site in three.sites.values()), process)
    os.kill(three.children(process)["b"], signal.SIGKILL)
    for event in held.values():
        event.set()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    (line,) = err.splitlines()
    assert line.startswith("b: ")
    assert "SIGKILL" in line
    assert "a: run 1" in out
    assert "c: run 1" in out
    told = {path.name: path.read_text() for path in three.workspace.directory.glob("*.told")}
    assert told.keys() == {"b.told"}
    assert told["b.told"].startswith("b failed ")
    assert "SIGKILL" in told["b.told"]
    again = three.workspace.command("crawl", "--jobs", "3", "--json")
    assert again.code == 0, again.err
    assert len(three.workspace.search("needle")) == 3 * PAGES


def test_nobody_is_left_over_when_the_parent_is_killed(three: Three) -> None:
    held = {name: site.hold("/3") for name, site in three.sites.items()}
    process = three.workspace.start("crawl", "--jobs", "3")
    until(lambda: all(site.count("/3") for site in three.sites.values()), process)
    pids = three.children(process)
    assert set(pids) == set(NAMES)
    os.killpg(process.pid, signal.SIGKILL)
    for event in held.values():
        event.set()
    process.communicate(timeout=60)
    until(lambda: not any(map(psutil.pid_exists, pids.values())))
    again = three.workspace.command("crawl", "--jobs", "3", "--json")
    assert again.code == 0, again.err
    assert len(three.workspace.search("needle")) == 3 * PAGES


def test_one_that_takes_too_much_memory_is_ended(three: Three) -> None:
    three.definition["processes"] = {"memory": "64 MB"}
    three.workspace.write(three.definition)
    held = three.sites["a"].hold("/3")
    process = three.workspace.start("crawl", "--jobs", "3")
    _, err = process.communicate(timeout=60)
    held.set()
    assert process.returncode == 1
    assert {"processes.memory", "67"} <= set(named(err))
    assert "Traceback" not in err


def test_a_source_waits_for_those_that_send_it_links(three: Three) -> None:
    sources = three.definition["sources"]
    address = sources["b"]["start_urls"][0]
    three.sites["a"].page("/", title="Home", links=[f"{address}5"], text="of a")
    sources["a"]["send_links_to"] = ["b"]
    sources["b"] |= {"takes_links": True, "start_urls": [], "own_sites": [address]}
    three.workspace.write(three.definition)
    ended = three.workspace.command("crawl", "--jobs", "3", "--json")
    assert ended.code == 0, ended.err
    runs = {run["source"]: run["outcomes"] for run in ended.json["runs"]}
    assert runs["b"] == {"NEW": 1}


def test_one_that_cannot_begin_fails_alone(three: Three) -> None:
    entry = {"user": "robot", "url": "http://127.0.0.1:1/", "password": "${NOT_THERE}"}
    three.definition["sources"]["b"]["authentication"] = {"staff": entry}
    three.workspace.write(three.definition)
    ended = three.workspace.command("crawl", "--jobs", "3")
    assert ended.code == 1
    assert ended.err.startswith("b: not crawled: ")
    assert len(ended.err.splitlines()) == 1
