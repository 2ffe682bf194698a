"""Nodes of one project in processes of their own, each in a folder of its own, on one database."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from support.hourly import hourly_source
from support.project import Ended, Workspace
from support.site import Site
from support.started import end, kill, start
from support.until import until
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.port.node_store import KeptNode
from ultracrawl.stores.project_stores import open_nodes

PAGES = 12
LEASE = "2"
"""Seconds of a lease."""


class Machines:
    """Nodes of one project; each has a folder of its own, as on a machine of its own."""

    def __init__(self, folder: Path, options: dict[str, str], stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.sites: dict[str, Site] = {}
        self.definition: dict[str, Any] = {
            "state": {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]},
            "sources": {},
        }

    def source(self, name: str, **options: Any) -> Site:
        self.sites[name], self.definition["sources"][name] = hourly_source(
            self._stack, name, PAGES, **options
        )
        return self.sites[name]

    def workspace(self, node: str) -> Workspace:
        workspace = Workspace(self.folder / node)
        workspace.directory.mkdir(exist_ok=True)
        workspace.write(self.definition)
        return workspace

    def start(self, node: str, *words: str, **env: str) -> subprocess.Popen[str]:
        """Start a node, by `node run` or other words."""
        self.workspace(node)
        words = (*(words or ("node", "run")), "--name", node, "--jobs", "2")
        process = start(self.log_file(node), *words, **{"ULTRACRAWL_LEASE_SECONDS": LEASE, **env})
        self._stack.callback(kill, process)
        return process

    def give(self, nodes: Mapping[str, subprocess.Popen[str]]) -> None:
        """Define on nodes what was added since they started, when all of them are there to share it."""
        for process in nodes.values():
            until(lambda: nodes.keys() <= self.nodes().keys(), process)
        for node in nodes:
            self.workspace(node)

    def log_file(self, node: str) -> Path:
        return self.folder / node / "node.log"

    def log(self, node: str) -> str:
        return self.log_file(node).read_text()

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
        end(process, self.log_file(node))
