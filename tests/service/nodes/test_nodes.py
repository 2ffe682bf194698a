"""Nodes in processes of their own on one database: who crawls what, and who goes on when one dies."""

from __future__ import annotations

import pytest
from support.machines import LEASE, PAGES, Machines
from support.until import PATIENCE, until

pytestmark = [pytest.mark.servers, pytest.mark.processes]


def test_two_nodes_share_three_sources_and_one_goes_on_for_the_other_when_it_is_killed(
    machines: Machines,
) -> None:
    a = machines.start("a")
    b = machines.start("b")
    holds = {name: machines.source(name).hold("/7") for name in ("one", "two", "three")}
    machines.give({"a": a, "b": b})
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
    assert a.wait(PATIENCE) == 0, machines.log("a")
    assert machines.outcomes("one") == ["NEW"] * (PAGES + 1)
    assert machines.listed()["a"]["state"] == "drained"
