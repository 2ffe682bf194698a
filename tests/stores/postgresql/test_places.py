"""Where documents wait for the index, if several machines share a state: each row names the cache of a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from stores.conftest import a_schema
from support import clock

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.port.node_store import NodeFacts
from ultracrawl.stores.postgresql.engine import PostgresEngine

pytestmark = pytest.mark.servers
HERE = Path()
LEASE = 20.0


def entry(number: int) -> QueueEntry:
    return QueueEntry(number, f"http://h/{number}", "h", 0, number)


def send(store: Store, *numbers: int, again: bool = False) -> None:
    """Have visits send documents to the index, which are in the cache of the store."""
    for number in numbers:
        record = UrlRecord(entry(number).url, "s", outcome=UrlOutcome.NEW, etag='"x"', submitted=True)
        store.documents.note_submitted(number)
        if again:
            store.records.amend_record(number, record)
        else:
            store.records.discover_url(entry(number), 1.0)
            store.records.finish_url(entry(number), record)
    store.flush()


class Places:
    """Caches of one source, of which each is that of a machine with a node."""

    def __init__(self, options: dict[str, str], opened: ExitStack) -> None:
        self._engine, self._opened = PostgresEngine(options), opened

    def node(self, name: str) -> None:
        """Have a node live on the machine of this cache."""
        nodes = self._opened.enter_context(closing(self._engine.open_nodes(HERE, str(uuid4()))))
        nodes.register_node(name, NodeFacts("host", "1.0", place=name), LEASE)

    def write(self, name: str, work: Callable[[Store], object], *waiting: int) -> tuple[bool, list[int]]:
        """Crawl the source on a machine; returns whether another one did last, and what is fetched again."""
        with closing(self._engine.open_store(HERE, "s")) as store:
            store.begin_run(1.0, "")
            is_other = store.documents.open_place(name)
            store.documents.keep_place()
            lost = store.documents.refetch_lost(frozenset(waiting))
            work(store)
        return is_other, lost


@pytest.fixture
def places(database: str) -> Iterator[Places]:
    with a_schema(database) as options, ExitStack() as opened:
        yield Places(options, opened)


def nothing(_: Store) -> None:
    """Change nothing."""


def test_what_waits_on_a_living_node_is_left_and_else_fetched_again(places: Places) -> None:
    places.node("a")
    assert places.write("a", lambda store: send(store, 1, 2)) == (False, [])
    assert places.write("b", lambda store: send(store, 3)) == (True, [])
    assert places.write("a", nothing, 1, 2) == (True, [3]), "b has no node"
    assert places.write("b", nothing) == (True, [])
    clock.leap(LEASE + 1)
    assert places.write("b", nothing) == (False, [1, 2])
    assert places.write("b", nothing) == (False, [])


def test_texts_of_links_are_left_to_who_has_their_document(places: Places) -> None:
    def hand_over(store: Store) -> None:
        send(store, 1, 2)
        store.links.submitted_without_texts(1)
        store.links.submitted_without_texts(2)

    def find_due(store: Store) -> None:
        due.append(store.links.documents_due(None, 100))
        send(store, 2, again=True)
        due.append(store.links.documents_due(None, 100))
        store.links.changed_texts([1])  # it was due before that
        store.flush()
        store.links.note_texts_arrived()

    due = list[list[int]]()
    places.node("a")
    places.write("a", hand_over)
    places.write("b", find_due)
    assert due == [[], [2]]
    places.write("a", lambda store: due.append(store.links.documents_due(None, 100)), 1)
    assert due[2:] == [[1, 2]], "nothing arrived of what is here"


def test_a_document_is_where_it_was_put_last(places: Places) -> None:
    places.node("a")
    places.node("b")
    places.write("a", lambda store: send(store, 1, 2))

    def visit(store: Store) -> None:
        send(store, 2, again=True)
        first = store.records.get_record(1)
        assert first is not None
        assert first.submitted
        store.records.amend_record(1, replace(first, outcome=UrlOutcome.NOT_MODIFIED))

    assert places.write("b", visit, 2) == (True, []), "an older document of 2 was left in the cache here"
    found = []
    places.write("a", lambda store: found.append(store.documents.submitted_here([1, 2])), 1, 2)
    assert found == [{1}], "that of 2 has been made again"
    clock.leap(LEASE + 1)
    assert places.write("a", nothing, 1, 2) == (False, [2]), "and it is lost, whatever is in the cache here"


def test_lost_documents_are_met_anew_by_a_listing_that_goes_on(places: Places) -> None:
    def list_them(store: Store) -> None:
        send(store, 1, 2)
        store.visits.note_met([1, 2])

    places.write("a", list_them)
    met = []
    places.write("b", lambda store: met.extend(one.key for one in store.visits.note_met([1, 2])))
    assert met == [1, 2]
