"""Folders that several nodes can see are watched by one of them, and by another one when that is gone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.machines import Machines
from support.until import until

from ultracrawl.service.nodes.node import Node, open_node
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import state_to_read

pytestmark = pytest.mark.servers


class Folders:
    """Nodes in this process, each with the definitions of a folder of its own."""

    def __init__(self, machines: Machines, stack: ExitStack) -> None:
        self.machines, self._stack = machines, stack
        self.docs = machines.folder / "docs"
        self.docs.mkdir()
        self.source: dict[str, Any] = {"type": "file", "paths": [str(self.docs)], "watch": True}

    def project(self, name: str, **options: Any) -> Project:
        folder = self.machines.folder / name
        folder.mkdir(exist_ok=True)
        file = folder / "ultracrawl.yaml"
        definition = {**self.machines.definition, "sources": {"share": {**self.source, **options}}}
        file.write_text(yaml.safe_dump(definition))
        return require(read_definitions(file))

    def node(self, name: str, **options: Any) -> Node:
        project = self.project(name, **options)
        return self._stack.enter_context(open_node(lambda: project, dict, name))


@pytest.fixture
def folders(machines: Machines) -> Any:
    with ExitStack() as stack:
        yield Folders(machines, stack)


def test_one_node_watches_until_it_drains(folders: Folders) -> None:
    a, b = folders.node("a"), folders.node("b")
    a._look([], 1), b._look([], 1), a._look([], 1)
    assert (a.watches("share"), b.watches("share")) == (True, False)
    assert folders.machines.command("node", "drain", "a").code == 0
    a._look([], 1), b._look([], 1)
    assert (a.watches("share"), b.watches("share")) == (False, True)


def test_one_watches_when_the_other_has_ended(folders: Folders) -> None:
    with ExitStack() as living:
        first = living.enter_context(open_node(lambda: folders.project("a"), dict, "a"))
        first._look([], 1)
        b = folders.node("b")
        b._look([], 1)
        assert not b.watches("share")
    b._look([], 1)
    assert b.watches("share")


def test_who_does_not_see_the_folder_leaves_it_to_others(folders: Folders, tmp_path: Path) -> None:
    blind = folders.node("a", paths=[str(tmp_path / "none")])
    sees = folders.node("b")
    blind._look([], 1), sees._look([], 1)
    assert (blind.watches("share"), sees.watches("share")) == (False, True)
    folders.docs.rmdir()
    sees._look([], 1)
    assert sees.watches("share"), "it sees the folder come back, too"


def test_only_who_has_the_source_as_it_was_released_watches(folders: Folders) -> None:
    folders.project("desk")
    released = folders.machines.workspace
    folders.machines.definition["sources"] = {"share": folders.source}
    assert released("desk").command("node", "release").code == 0
    other, same = folders.node("a", exclude=["private"]), folders.node("b")
    other._look([], 1), same._look([], 1)
    assert (other.watches("share"), same.watches("share")) == (False, True)


def test_what_is_bound_is_no_matter_of_the_store(folders: Folders) -> None:
    a = folders.node("a", node="b")
    a._look([], 1)
    assert not a.watches("share")


def ended_runs(machines: Machines) -> int:
    project = require(read_definitions(machines.workspace("desk").directory / "ultracrawl.yaml"))
    with state_to_read(project, "share") as state:
        return sum(bool(run.finished) for run in state.runs(10)) if state else 0


@pytest.mark.processes
def test_a_change_is_crawled_once_though_two_nodes_see_it(machines: Machines) -> None:
    docs = machines.folder / "docs"
    docs.mkdir()
    (docs / "one.txt").write_text("needle")
    machines.definition["sources"]["share"] = {"type": "file", "paths": [str(docs)], "watch": True}
    machines.definition["processes"] = {"default_interval": None}
    nodes = {name: machines.start(name) for name in "ab"}
    until(lambda: len(machines.nodes()) == len(nodes), nodes["a"])
    until(lambda: ended_runs(machines), nodes["a"])
    (watcher,) = (node.name for node in machines.nodes().values() if node.plans)
    other = "b" if watcher == "a" else "a"
    assert ended_runs(machines) == 1
    (docs / "two.txt").write_text("needle")
    machines.end(watcher, nodes[watcher])
    until(lambda: machines.nodes()[other].plans, nodes[other])
    until(lambda: len(machines.outcomes("share")) == len(nodes), nodes[other])
    until(lambda: ended_runs(machines) == 2, nodes[other])
    machines.end(other, nodes[other])
