"""Nodes in processes of their own on one database: who crawls what, and who goes on when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from stores.conftest import a_schema
from support.postgresql import postgresql_server
from support.project import LOOPBACK, Ended, Workspace
from support.site import Site
from support.until import until

from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.port.node_store import KeptNode
from ultracrawl.stores.project_stores import open_nodes

pytestmark = [pytest.mark.servers, pytest.mark.processes]
PAGES = 12
LEASE = "2"


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgresql_server() as url:
        yield url


class Machines:
    """Nodes of one project; each has a folder of its own, as on a machine of its own."""

    def __init__(self, folder: Path, options: dict[str, str], stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.sites: dict[str, Site] = {}
        self.definition: dict[str, Any] = {
            "state": {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]},
            "sources": {},
        }
        self._processes: list[subprocess.Popen[str]] = []
        stack.callback(self._end)

    def source(self, name: str) -> Site:
        site = self.sites[name] = Site()
        site.page("/", title="Home", links=[f"/{number}" for number in range(PAGES)], text=f"of {name}")
        for number in range(PAGES):
            site.page(f"/{number}", title=f"{name} {number}", text=f"needle {name}{number}")
        self.definition["sources"][name] = {
            "start_urls": [f"{self._stack.enter_context(site.serve())}/"],
            "boundary": LOOPBACK,
            "politeness": {"delay": 0, "concurrency": 1},
            "refresh": {"interval": "1 h"},
        }
        return site

    def workspace(self, node: str) -> Workspace:
        workspace = Workspace(self.folder / node)
        workspace.directory.mkdir(exist_ok=True)
        workspace.write(self.definition)
        return workspace

    def start(self, node: str, **env: str) -> subprocess.Popen[str]:
        workspace = self.workspace(node)
        with (workspace.directory / "node.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "ultracrawl", "node", "run", "--name", node, "--jobs", "2"],
                cwd=workspace.directory,
                env={**os.environ, "ULTRACRAWL_LEASE_SECONDS": LEASE, **env},
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def log(self, node: str) -> str:
        return (self.folder / node / "node.log").read_text()

    def command(self, *words: str) -> Ended:
        return self.workspace("desk").command(*words)

    def listed(self) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in self.command("node", "list", "--json").json["nodes"]}

    def nodes(self) -> dict[str, KeptNode]:
        file = self.workspace("desk").directory / "ultracrawl.yaml"
        with closing(open_nodes(require(read_definitions(file)))) as store:
            return {node.name: node for node in store.nodes()}

    def outcomes(self, source: str) -> list[str]:
        listed = self.command("urls", "--source", source, "--json")
        assert listed.code == 0, listed.err
        return [row["outcome"] for row in listed.lines]

    def end(self, node: str, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0, self.log(node)
        assert "Traceback" not in self.log(node)

    def _end(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture
def machines(tmp_path: Path, database: str) -> Iterator[Machines]:
    with a_schema(database) as options, ExitStack() as stack:
        yield Machines(tmp_path, options, stack)


def test_two_nodes_share_three_sources_and_one_goes_on_for_the_other_when_it_is_killed(
    machines: Machines,
) -> None:
    holds = {name: machines.source(name).hold("/7") for name in ("one", "two", "three")}
    a = machines.start("a")
    b = machines.start("b")
    until(lambda: all(site.count("/7") for site in machines.sites.values()))
    listed = machines.listed()
    assert sorted([*listed["a"]["sources"], *listed["b"]["sources"]]) == ["one", "three", "two"]
    assert all(listed[node]["sources"] for node in "ab")
    assert all(listed["a"][key] for key in ("alive", "lease_ends", "host"))
    assert machines.command("node", "remove", "a").code == 2, "it lives"
    a.kill()
    a.wait()
    until(lambda: set(machines.nodes()["b"].sources) == machines.sites.keys(), b)
    for hold in holds.values():
        hold.set()
    until(lambda: not machines.nodes()["b"].plans, b)
    for name, site in machines.sites.items():
        assert machines.outcomes(name) == ["NEW"] * (PAGES + 1), machines.log("b")
        twice = {path: times for path, times in site.counts().items() if times > 2}
        assert not twice, "asked for by both at most, if the first had not stored it"
    machines.end("b", b)
    after = machines.listed()
    assert (after["a"]["state"], after["b"]["state"]) == ("dead", "ended")
    assert machines.command("node", "remove", "a").code == 0
    assert machines.command("node", "remove", "a").code == 2, "there is none"
    assert list(machines.nodes()) == ["b"]


def test_a_node_that_drains_finishes_and_ends_and_its_name_is_given_once(machines: Machines) -> None:
    hold = machines.source("one").hold("/7")
    a = machines.start("a")
    until(lambda: machines.sites["one"].count("/7"), a)
    again = machines.workspace("elsewhere").command(
        "node", "run", "--name", "a", ULTRACRAWL_LEASE_SECONDS=LEASE
    )
    assert again.code == 2, again.err
    assert machines.command("node", "drain", "a").code == 0
    assert machines.command("node", "drain", "nobody").code == 2
    assert machines.listed()["a"]["state"] == "draining"
    hold.set()
    assert a.wait(40) == 0, machines.log("a")
    assert machines.outcomes("one") == ["NEW"] * (PAGES + 1)
    assert machines.listed()["a"]["state"] == "drained"
