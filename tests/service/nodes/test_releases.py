"""Nodes with other definitions or another program than the rest: they say so, and crawl nothing by them."""

from __future__ import annotations

from uuid import uuid4

import pytest
from support.machines import PAGES, Machines
from support.until import PATIENCE, until

from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.port.node_store import NodeFacts
from ultracrawl.stores.project_stores import open_nodes

pytestmark = [pytest.mark.servers, pytest.mark.processes]


def test_a_node_takes_a_source_only_as_it_was_released(machines: Machines) -> None:
    site = machines.source("one")
    machines.source("two")
    first = machines.command("node", "release", "one", "--json")
    assert first.code == 0, first.err
    assert (list(first.json["released"]), first.json["not_released"]) == (["one"], ["two"])
    assert machines.command("node", "release", "nothing").code == 2
    machines.definition["sources"]["one"]["depth"] = 5
    b = machines.start("b")
    until(lambda: "ultracrawl.yaml" in machines.log("b"), b)
    listed = machines.listed()["b"]
    assert sorted(listed["refuses"]) == ["one", "two"]
    assert listed["digests"]["one"] != first.json["released"]["one"]
    assert listed["capabilities"]["converters"]
    assert not site.counts()
    assert machines.command("node", "release").code == 0
    for name, one in machines.sites.items():
        until(lambda one=one: one.count("/7"), b)
        until(lambda name=name: machines.outcomes(name) == ["NEW"] * (PAGES + 1), b)
    assert machines.listed()["b"]["refuses"] == []
    machines.end("b", b)


def test_an_older_program_drains_itself(machines: Machines) -> None:
    hold = machines.source("one").hold("/7")
    a = machines.start("a")
    until(lambda: machines.sites["one"].count("/7"), a)
    file = machines.workspace("desk").directory / "ultracrawl.yaml"
    store = open_nodes(require(read_definitions(file)), str(uuid4()))
    store.register_node("gone", NodeFacts("host", "999.0"), 60.0)
    store.end_node()
    machines.source("two")
    assert machines.listed()["a"]["state"] == "running", "a node that has ended makes none old"
    store.register_node("z", NodeFacts("host", "998.0"), 60.0)
    until(lambda: machines.listed()["a"]["state"] == "draining", a)
    hold.set()
    assert a.wait(PATIENCE) == 0, machines.log("a")
    store.close()
    assert "998.0" in machines.log("a")
    assert machines.outcomes("one") == ["NEW"] * (PAGES + 1)
    assert not machines.sites["two"].counts()
