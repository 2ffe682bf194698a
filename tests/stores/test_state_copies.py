"""URLs with equal checksums, of which at most one holds the checksum: before and after a flush."""

from __future__ import annotations

from stores.conftest import Place

from ultracrawl.stores import Copy, QueueEntry

NOW = 1_700_000_000.0


def test_copies_are_found_by_checksum_and_leave_with_their_url(kept: Place) -> None:
    store = kept.open()
    store.begin_run(NOW, "")
    for key in (1, 2, 3):
        store.records.discover_url(QueueEntry(key, f"http://h/{key}", "h", 0, key), NOW)
        store.documents.put_copy(key, Copy("a", key == 1))
    assert store.documents.copies("a") == {1: True, 2: False, 3: False}
    store.flush()
    assert store.documents.copies("a") == {1: True, 2: False, 3: False}
    store.documents.put_copy(1, None)
    store.documents.put_copy(2, Copy("b", True))
    assert (store.documents.copies("a"), store.documents.copies("b")) == ({3: False}, {2: True})
    assert (store.documents.copy_of(1), store.documents.copy_of(3)) == (None, Copy("a", False))
    store.flush()
    store.close()
    store = kept.open()
    assert (store.documents.copies("a"), store.documents.copies("b")) == ({3: False}, {2: True})
    store.drop_urls([2])
    assert store.documents.copy_of(2) is None
