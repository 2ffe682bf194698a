"""What `status` and `schedule show` say of the next run where nodes crawl: which of them takes it, or what to start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any
from uuid import uuid4

import pytest
from support.machines import Machines

from ultracrawl.service.nodes.node_facts import source_digest
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.port.node_store import NodeFacts
from ultracrawl.stores.project_stores import open_nodes

pytestmark = [pytest.mark.servers, pytest.mark.processes]


def row_of(machines: Machines, source: str) -> dict[str, Any]:
    (row,) = machines.command("status", source, "--json").json["sources"]
    return dict(row)


def text_of(machines: Machines, source: str) -> str:
    (line,) = (line for line in machines.command("status", source).out.splitlines() if "next run" in line)
    return line


@contextmanager
def living(machines: Machines, *names: str, digests: dict[str, str] | None = None) -> Iterator[None]:
    """Be these nodes in the block."""
    project = require(read_definitions(machines.workspace("desk").directory / "ultracrawl.yaml"))
    own = digests or {name: source_digest(project, source) for name, source in project.sources.items()}
    with ExitStack() as stack:
        for name in names:
            store = stack.enter_context(closing(open_nodes(project, str(uuid4()))))
            store.register_node(name, NodeFacts(f"host-{name}", "1.0", own), 600.0)
            stack.callback(store.end_node)
        yield


def test_it_names_the_nodes_that_take_a_source_or_says_what_to_start(machines: Machines) -> None:
    machines.source("free")
    machines.source("plain", refresh={})
    machines.source("bound", node="crawler-b")
    machines.source("nightly", refresh={})
    machines.definition["schedules"] = {
        "night": {"sources": ["nightly"], "cron": "0 3 * * *", "node": "crawler-c"}
    }
    sources = ("free", "plain", "bound", "nightly")
    for source in sources:
        row = row_of(machines, source)
        assert (row["kept"], row["nodes"]) == (False, []), source
        assert "node run --name" in text_of(machines, source)
    assert "--name crawler-b" in text_of(machines, "bound")
    assert "--name crawler-c" in text_of(machines, "nightly")
    assert "node run --name crawler-c" in machines.command("schedule", "show", "night").out
    with living(machines, "crawler-a", "crawler-b"):
        rows = {source: row_of(machines, source) for source in sources}
        assert {source: (row["kept"], row["nodes"]) for source, row in rows.items()} == {
            "free": (True, ["crawler-a", "crawler-b"]),
            "plain": (True, ["crawler-a", "crawler-b"]),
            "bound": (True, ["crawler-b"]),
            "nightly": (False, []),
        }
        assert "crawler-a" in text_of(machines, "free")
        assert "node run" not in text_of(machines, "bound")
        assert "--name crawler-c" in text_of(machines, "nightly")
        assert machines.command("node", "drain", "crawler-b").code == 0
        assert row_of(machines, "free")["nodes"] == ["crawler-a"]
        assert row_of(machines, "bound")["nodes"] == []
    assert row_of(machines, "free")["nodes"] == []


def test_a_node_that_has_a_source_otherwise_than_it_was_released_does_not_take_it(machines: Machines) -> None:
    machines.source("one", refresh={})
    machines.source("two", refresh={})
    machines.definition["schedules"] = {"both": {"sources": ["one", "two"], "cron": "0 3 * * *"}}
    assert machines.command("node", "release").code == 0
    with living(machines, "a"):
        assert row_of(machines, "one")["nodes"] == ["a"]
    with living(machines, "a", digests={"one": "other"}):
        for source in ("one", "two"):
            row = row_of(machines, source)
            assert (row["kept"], row["nodes"]) == (False, []), "sources of a schedule go together"
            assert "node list" in text_of(machines, source)


def test_with_a_state_on_one_machine_there_are_no_nodes(machines: Machines) -> None:
    machines.source("one")
    del machines.definition["state"]
    assert row_of(machines, "one")["nodes"] is None
    assert "serve" in text_of(machines, "one")
