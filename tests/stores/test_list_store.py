"""Lists of values that crawls of several sources write."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from ultracrawl.rules.attributes.schema import ListedValue, ValueList
from ultracrawl.stores.list_store import ListStore


def test_lists_of_crawls_that_write_at_the_same_time_are_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_have_read, read = threading.Barrier(2), ListStore.read

    def read_and_meet(store: ListStore) -> dict[str, ValueList]:
        found = read(store)
        with suppress(threading.BrokenBarrierError):  # the other one waits for the lock
            both_have_read.wait(timeout=0.2)
        return found

    monkeypatch.setattr(ListStore, "read", read_and_meet)
    lists = [ValueList(name, (ListedValue("a", {}),)) for name in ("Status", "Place")]
    threads = [threading.Thread(target=ListStore(tmp_path).replace, args=([one],)) for one in lists]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert read(ListStore(tmp_path)).keys() == {"Status", "Place"}
