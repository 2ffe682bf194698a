"""A node that delivers documents of a source gives it up when somebody wants to work with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import Mock

import pytest
from support.machines import PAGES, Machines
from support.until import until

from ultracrawl.errors import UserError
from ultracrawl.service.nodes import deliveries
from ultracrawl.service.nodes.deliveries import Deliveries
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores import delivery
from ultracrawl.stores.postgresql.access import fencing
from ultracrawl.stores.project_stores import open_state, source_notes

pytestmark = [pytest.mark.servers, pytest.mark.processes]


@pytest.fixture
def project(machines: Machines) -> Project:
    machines.source("one")
    return require(read_definitions(machines.workspace("a").directory / "ultracrawl.yaml"))


@contextmanager
def delivering(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mock]:
    """Deliver without end in the block; gives the writer."""
    writer = Mock(busy=True)
    writer.recover.return_value = []
    monkeypatch.setattr(deliveries, "open_writer", lambda *_: writer)
    monkeypatch.setattr(fencing, "LEASE_SECONDS", 3000.0)  # this writer writes nothing, which would renew it
    node = Deliveries(lambda: project)
    work = threading.Thread(target=node._deliver_of, args=(project, project.sources["one"]))
    work.start()
    try:
        until(lambda: writer.tick.called)
        yield writer
    finally:
        node._ending.set()
        work.join()


@pytest.mark.parametrize("words", [["crawl", "one"], ["remove", "one", "--yes"]])
def test_what_is_ordered_while_a_node_delivers_goes_on(
    machines: Machines, project: Project, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    with delivering(project, monkeypatch) as writer:
        ended = machines.command(*words)
        assert ended.code == 0, ended.err
        assert writer.close.called
    if words[0] == "crawl":
        assert machines.outcomes("one") == ["NEW"] * (PAGES + 1)
    notes = source_notes(project, "one")
    assert notes is not None
    assert not delivery.is_delivered(notes)


def test_another_node_that_has_documents_too_takes_nothing_away(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with delivering(project, monkeypatch) as writer:
        with pytest.raises(UserError):
            Deliveries(lambda: project)._deliver_of(project, project.sources["one"])
        assert not writer.close.called


def test_one_that_does_not_end_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "PATIENCE", 0.0)
    monkeypatch.setattr(delivery, "LOOK_SECONDS", 3000.0)
    with delivering(project, monkeypatch), pytest.raises(UserError) as raised:
        open_state(project, "one")
    assert "delivers" in str(raised.value)
