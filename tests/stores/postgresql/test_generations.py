"""Two generations of changes: what a flush writes, and what is gathered meanwhile; reads see both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from stores.conftest import a_schema

from ultracrawl.errors import StateError
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry, StoredSite
from ultracrawl.stores.port.documents import Copy, Retained
from ultracrawl.stores.port.sites import StoredSitemap
from ultracrawl.stores.postgresql.engine import PostgresEngine
from ultracrawl.stores.postgresql.store import PostgresStore

pytestmark = pytest.mark.servers
PRINT = b"0123456789abcdef"


def entry(number: int) -> QueueEntry:
    return QueueEntry(number, f"http://h/{number}", "h", 1, number)


def done(number: int, **changes: object) -> UrlRecord:
    record = UrlRecord(entry(number).url, "s", 1, outcome=UrlOutcome.NEW, first_seen=1.0, last_fetched=2.0)
    return replace(record, fingerprint=PRINT, **changes)


@pytest.fixture
def options(database: str) -> Iterator[dict[str, str]]:
    with a_schema(database) as options:
        yield options


@pytest.fixture
def store(options: dict[str, str]) -> Iterator[PostgresStore]:
    with closing(PostgresEngine(options).open_store(Path(), "s")) as store:
        yield store


def gather_first(store: PostgresStore) -> None:
    for number in (1, 2, 3):
        store.records.discover_url(entry(number), 1.0)
    store.records.finish_url(entry(1), done(1))
    store.visits.count_failure(2, "rule")
    store.visits.note_seen([9])
    store.documents.retain_document(Retained.APPROVAL, 1, b"first")
    store.documents.put_copy(1, Copy("sum", True))
    store.documents.put_copy(2, Copy("sum", False))
    store.sites.put_site(StoredSite("h", seen=1.0))
    store.sites.put_sitemap(8, StoredSitemap(1, False, b""))
    store.queue.put_hops(3, 2)
    store.links.note_depth_due(1, b"12345678")
    store.note_listing(1, "first")


def gather_second(store: PostgresStore) -> None:
    store.records.discover_url(entry(4), 1.0)
    store.records.finish_url(entry(2), done(2))
    store.records.amend_record(1, done(1, etag='"e"'))
    assert store.visits.count_failure(2, "rule") == 2
    store.documents.release_document(Retained.APPROVAL, 1)
    store.documents.put_copy(2, None)
    store.queue.put_hops(3, 0)
    store.links.note_depth_due(1, b"abcdefgh")


def check(store: PostgresStore) -> None:
    """Check what is read of both, without a flush between."""
    assert store.records.get_record(1) == done(1, etag='"e"')
    assert store.records.get_record(2) == done(2)
    assert store.records.get_records([3, 5]) == {3: UrlRecord("http://h/3", "s", 1, first_seen=1.0)}
    assert store.records.known_urls([1, 3, 4, 5]) == {
        number: (f"http://h/{number}", 1) for number in (1, 3, 4)
    }
    assert store.records.with_fingerprint(PRINT) == [done(1, etag='"e"'), done(2)]
    assert store.documents.retained_document(Retained.APPROVAL, 1) is None
    assert store.documents.copy_of(1) == Copy("sum", True)
    assert store.documents.copy_of(2) is None
    assert store.sites.get_site("h") == StoredSite("h", seen=1.0)
    assert store.sites.get_sitemap(8) == StoredSitemap(1, False, b"")


def check_queries(store: PostgresStore) -> None:
    """Check what is read of the database, and completed from memory."""
    assert [one.key for one in store.queue.entries_of("h", 9)] == [3, 4]
    assert [one.key for one in store.queue.entries_of("h", 1)] == [3]
    assert store.documents.copies("sum") == {1: True}
    assert store.queue.hops_to([3]) == {}
    assert store.listings() == [(1, "first")]


def test_a_flush_that_failed_is_repeated_by_itself_before_what_came_later(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gather_first(store)
    with monkeypatch.context() as patched:
        patched.setattr(store._database, "write", refuse)
        with pytest.raises(StateError):
            store.flush()
        gather_second(store)
        with pytest.raises(StateError):
            store.flush()
    check(store)
    check_queries(store)
    before = store._database._flush_no
    store.flush()
    assert store._database._flush_no == before + 2, "each generation in a transaction of its own"
    assert store.unflushed == 0
    check(store)
    check_queries(store)
    assert store.visits.count_failure(2, "rule") == 3
    assert store.links.depths_due() == {1: b"12345678abcdefgh"}, "each once"


def refuse(work: object) -> None:
    raise StateError("the database is away")
