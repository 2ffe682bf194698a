"""Nodes in the database: one process a name, one node a plan, and nothing written without holding it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from uuid import uuid4

import pytest
from stores.conftest import a_schema
from support import clock

from ultracrawl.errors import UserError
from ultracrawl.stores.port.node_store import NodeFacts, NodeStore
from ultracrawl.stores.port.schedule_store import KeptSchedule
from ultracrawl.stores.postgresql.access.fencing import this_process
from ultracrawl.stores.postgresql.engine import PostgresEngine
from ultracrawl.stores.postgresql.shared import node_store

pytestmark = pytest.mark.servers
FACTS = NodeFacts("host", "1.0")
LEASE = 20.0


@pytest.fixture
def node(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], NodeStore]]:
    """Open the store for one more node, each a process of another machine."""
    monkeypatch.setattr(node_store, "this_process", lambda: (str(uuid4()), this_process()[1]))
    with a_schema(database) as options, ExitStack() as opened:
        engine = PostgresEngine(options)
        yield lambda: opened.enter_context(closing(engine.open_nodes(Path(), str(uuid4()))))


def test_a_name_is_that_of_one_process_until_its_lease_is_over(node: Callable[[], NodeStore]) -> None:
    one, two = node(), node()
    one.register_node("a", FACTS, LEASE)
    with pytest.raises(UserError, match="host"):
        two.register_node("a", FACTS, LEASE)
    with pytest.raises(UserError, match="drain"):
        two.remove_node("a")
    clock.leap(LEASE + 1)
    assert [node.alive for node in one.nodes()] == [False]
    two.register_node("a", FACTS, LEASE)
    assert not one.renew_node(FACTS, LEASE)
    assert two.renew_node(FACTS, LEASE)
    two.end_node()
    assert [(node.alive, node.ended) for node in one.nodes()] == [(False, True)]
    assert one.remove_node("a")
    assert not one.remove_node("a")


def test_a_plan_is_held_by_one_node_which_alone_writes_it(node: Callable[[], NodeStore]) -> None:
    one, two = node(), node()
    one.register_node("a", FACTS, LEASE)
    two.register_node("b", FACTS, LEASE)
    assert one.take_plan("nightly", ["x", "y"])
    assert one.take_plan("nightly", ["x", "y"])
    assert not two.take_plan("nightly", ["x", "y"])
    one.put_schedule(KeptSchedule("nightly", due=1.0))
    two.put_schedule(KeptSchedule("nightly", due=2.0))
    assert [node.sources for node in two.node_work().nodes] == [("x", "y"), ()]
    assert two.node_work().kept["nightly"].due == 1.0
    clock.leap(LEASE - 1)
    assert two.renew_node(FACTS, LEASE)
    clock.leap(2)
    assert two.take_plan("nightly", ["x"]), "its node is dead"
    one.put_schedule(KeptSchedule("nightly", due=3.0))
    assert one.renew_node(FACTS, LEASE), "nobody took the name"
    one.give_back(["nightly"])
    assert [node.plans for node in one.nodes()] == [(), ("nightly",)]
    assert one.node_work().kept["nightly"].due == 1.0


def test_a_node_that_drains_or_is_dead_takes_nothing(node: Callable[[], NodeStore]) -> None:
    one, two = node(), node()
    assert not one.take_plan("p", ["x"]), "it has not registered"
    one.register_node("a", FACTS, LEASE)
    assert two.drain_node("a")
    assert not two.drain_node("nobody")
    assert not one.take_plan("p", ["x"])
    one.end_node()
    one.register_node("a", FACTS, LEASE)
    assert one.take_plan("p", ["x"]), "it was started again"
    clock.leap(LEASE + 1)
    assert not one.take_plan("q", ["x"])


def test_what_is_crawled_anywhere_is_seen(node: Callable[[], NodeStore], database: str) -> None:
    one = node()
    one.register_node("a", FACTS, LEASE)
    assert one.node_work().crawled == frozenset()
