"""What is bound to a node by its definition runs there and nowhere else."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from support.machines import PAGES, Machines
from support.until import PATIENCE, until

pytestmark = [pytest.mark.servers, pytest.mark.processes]
SCHEDULE = {"sources": "one", "cron": "0 0 29 2 *", "node": "b"}


def _bound(machines: Machines, told: Path) -> None:
    """Define a schedule for the node b, which no test waits for, and a program that keeps each notice."""
    machines.source("one", refresh={})
    write = (
        f"import os, pathlib; pathlib.Path({str(told)!r}).open('a').write(os.environ['ULTRACRAWL_NOTICE'])"
    )
    machines.definition["schedules"] = {"nightly": SCHEDULE}
    machines.definition["notices"] = {"to": {"file": {"command": [sys.executable, "-c", write]}}}


def _schedule(machines: Machines) -> dict[str, Any]:
    shown: dict[str, Any] = machines.command("schedule", "show", "nightly", "--json").json
    return shown


def _failure(machines: Machines) -> dict[str, Any] | None:
    (row,) = machines.command("status", "one", "--json").json["sources"]
    assert row["node"] == "b"
    failure: dict[str, Any] | None = row["failure"]
    return failure


def test_a_schedule_bound_to_a_node_fails_elsewhere_and_runs_there(
    machines: Machines, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    _bound(machines, told)
    alone = machines.command("schedule", "launch", "nightly")
    assert (alone.code, machines.sites["one"].counts()) == (1, {}), alone.err
    a = machines.start("a")
    until(lambda: "a" in machines.nodes(), a)
    assert machines.command("schedule", "launch", "nightly").code == 1, "no node takes it"
    until(lambda: len(_schedule(machines)["runs"]) == 2, a)
    shown = _schedule(machines)
    assert (shown["status"], shown["node"]) == ("failed", "b")
    assert "'b'" in shown["error"]
    assert shown["error"] == shown["runs"][0]["sources"]["one"]
    assert _failure(machines) == {"time": _failure(machines)["time"], "problem": shown["error"]}
    assert not machines.sites["one"].counts()
    until(lambda: told.exists() and shown["error"] in told.read_text(), a)
    b = machines.start("b")
    until(lambda: "b" in machines.nodes(), b)
    hold = machines.sites["one"].hold("/7")
    assert machines.command("schedule", "launch", "nightly").code == 0
    until(lambda: machines.sites["one"].count("/7"), b)
    assert machines.listed()["b"]["sources"] == ["one"]
    hold.set()
    until(lambda: _schedule(machines)["status"] == "scheduled", b)
    assert (_schedule(machines)["error"], _failure(machines)) == (None, None)
    assert machines.outcomes("one") == ["NEW"] * (PAGES + 1)
    for name, process in (("a", a), ("b", b)):
        machines.end(name, process)


def test_what_is_bound_to_a_node_that_is_missing_or_drains_fails_on_another(machines: Machines) -> None:
    hold = machines.source("long", node="b").hold("/7")
    machines.source("one", refresh={})
    machines.source("lost", node="c")
    machines.definition["schedules"] = {"nightly": SCHEDULE}
    a, b = machines.start("a"), machines.start("b")
    until(lambda: machines.sites["long"].count("/7"), b)
    until(lambda: machines.command("status", "lost", "--json").json["sources"][0]["failure"], a)
    for order in ("pause", "resume"):
        assert machines.command(order, "lost").code == 0, "a node takes it, though none runs the source now"
    assert machines.command("node", "drain", "b").code == 0
    assert machines.command("schedule", "launch", "nightly").code == 1
    until(lambda: _failure(machines), a)
    assert _schedule(machines)["status"] == "failed"
    assert machines.listed()["b"]["sources"] == ["long"], "it finishes what it runs"
    hold.set()
    assert b.wait(PATIENCE) == 0, machines.log("b")
    machines.end("a", a)
    assert machines.outcomes("long") == ["NEW"] * (PAGES + 1)
    assert not machines.sites["one"].counts() + machines.sites["lost"].counts()


def test_crawl_continuous_leaves_what_is_bound_to_its_node(machines: Machines) -> None:
    bound = machines.source("bound", node="b")
    machines.source("free")
    alone = machines.command("crawl", "--continuous", "bound")
    assert (alone.code, bound.counts()) == (2, {}), alone.err
    command = machines.workspace("desk").start("crawl", "--continuous")
    try:
        until(lambda: machines.sites["free"].count(f"/{PAGES - 1}"), command)
        assert not bound.counts()
        b = machines.start("b")
        until(lambda: bound.count(f"/{PAGES - 1}"), b)
        assert "runs this already" not in machines.log("b")
        machines.end("b", b)
    finally:
        command.send_signal(signal.SIGINT)
        _, said = command.communicate(timeout=PATIENCE)
    assert "bound (b)" in said
    assert set(machines.sites["free"].counts().values()) == {1}
