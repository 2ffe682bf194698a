"""What is gathered before and while a flush is written, and what a store must say of both."""

from __future__ import annotations

from dataclasses import replace

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry, Store, StoredSite
from ultracrawl.stores.port.documents import Copy, Retained
from ultracrawl.stores.port.sites import StoredSitemap

_PRINT = b"0123456789abcdef"


def entry(number: int) -> QueueEntry:
    return QueueEntry(number, f"http://h/{number}", "h", 1, number)


def done(number: int, etag: str = "") -> UrlRecord:
    record = UrlRecord(entry(number).url, "s", 1, outcome=UrlOutcome.NEW, first_seen=1.0, last_fetched=2.0)
    return replace(record, fingerprint=_PRINT, etag=etag)


def gather_first(store: Store) -> None:
    for number in (1, 2, 3):
        store.records.discover_url(entry(number), 1.0)
    store.records.finish_url(entry(1), done(1))
    store.visits.count_failure(2, "rule")
    store.documents.retain_document(Retained.APPROVAL, 1, b"first")
    store.documents.put_copy(1, Copy("sum", True))
    store.documents.put_copy(2, Copy("sum", False))
    store.sites.put_site(StoredSite("h", seen=1.0))
    store.sites.put_sitemap(8, StoredSitemap(1, False, b""))
    store.sites.announce_dates([(3, 5), (4, 9)])
    store.queue.put_hops(3, 2)
    store.links.note_depth_due(1, b"12345678")
    store.records.put_signature(_PRINT, 7)
    store.note_listing(1, "first")


def gather_second(store: Store) -> None:
    store.records.discover_url(entry(4), 1.0)
    store.records.finish_url(entry(2), done(2))
    store.records.amend_record(1, done(1, '"e"'))
    assert store.visits.count_failure(2, "rule") == 2
    store.visits.forget_failures(2)
    store.documents.release_document(Retained.APPROVAL, 1)
    store.documents.put_copy(2, None)
    store.sites.announce_dates([(3, 6), (4, 8)])
    store.queue.put_hops(3, 0)
    store.links.note_depth_due(1, b"abcdefgh")


def check_memory(store: Store) -> None:
    """Check what a crawl asks for with each page."""
    assert store.records.get_record(1) == done(1, '"e"')
    assert store.records.get_record(2) == done(2)
    assert store.records.get_record(3) == UrlRecord("http://h/3", "s", 1, first_seen=1.0)
    assert store.documents.retained_document(Retained.APPROVAL, 1) is None
    assert store.documents.copy_of(1) == Copy("sum", True)
    assert store.documents.copy_of(2) is None
    assert store.sites.get_site("h") == StoredSite("h", seen=1.0)
    assert store.sites.get_sitemap(8) == StoredSitemap(1, False, b"")


def check_queries(store: Store) -> None:
    """Check what is read of the store itself, and completed from memory."""
    assert [one.key for one in store.queue.entries_of("h", 9)] == [3, 4]
    assert [one.key for one in store.queue.entries_of("h", 1)] == [3]
    known = {number: (f"http://h/{number}", 1) for number in (1, 3, 4)}
    assert store.records.known_urls([1, 3, 4, 5]) == known
    assert store.records.with_fingerprint(_PRINT) == [done(1, '"e"'), done(2)]
    assert store.records.nearest_signature(7, 0) == _PRINT
    assert store.documents.copies("sum") == {1: True}
    assert store.sites.sitemap_keys() == {8}
    assert store.sites.announced_dates([3, 4, 5]) == {3: 6, 4: 9}
    assert store.queue.hops_to([3]) == {}
    assert store.listings() == [(1, "first")]


def check_end(store: Store) -> None:
    """Check what is stored when all is flushed, each of it once."""
    check_memory(store)
    check_queries(store)
    assert store.links.depths_due() == {1: b"12345678abcdefgh"}
    assert store.visits.count_failure(2, "rule") == 1, "it had succeeded since"
