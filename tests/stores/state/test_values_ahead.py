"""Values that are read for the URLs that are likely to be next: few queries, nothing that has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ultracrawl.stores.state import read_ahead
from ultracrawl.stores.state.read_ahead import LARGE_VALUE, ValuesAhead


class Table:
    """A table of texts by key, whose keys are asked for in order."""

    def __init__(self, rows: dict[int, bytes], *, keeps: bool = True) -> None:
        self.rows, self.changed = rows, set[int]()
        self.asked: list[list[int]] = []
        of_key: Callable[[int, int], list[int]] = lambda key, number: list(range(key, key + number))  # noqa: E731
        options: Any = {"keeps": keeps, "ahead": 4}
        self.values = ValuesAhead(of_key, self.changed.__contains__, self._read, len, **options)

    def _read(self, keys: list[int]) -> dict[int, bytes | None]:
        self.asked.append(keys)
        rows = {key: self.rows[key] for key in keys if key in self.rows}
        return {key: row if key == keys[0] or len(row) <= LARGE_VALUE else None for key, row in rows.items()}


def test_what_is_likely_to_be_next_is_read_with_a_value_even_where_there_is_none() -> None:
    table = Table({1: b"a", 3: b"c", 5: b"e"})
    assert [table.values.get(key) for key in range(1, 7)] == [b"a", None, b"c", None, b"e", None]
    assert table.asked == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_a_value_that_changes_is_read_again_and_not_ahead_while_it_is_not_flushed() -> None:
    table = Table({1: b"a", 2: b"b"})
    assert table.values.get(1) == b"a"
    table.rows[2] = b"new"
    table.values.drop([2])
    assert table.values.get(2) == b"new"
    table.changed.add(4)
    table.values.forget()
    table.values.get(1)
    assert table.asked[-1] == [1, 2, 3]


def test_a_large_value_is_read_when_its_turn_comes() -> None:
    large = bytes(LARGE_VALUE + 1)
    table = Table({1: b"a", 2: large})
    assert table.values.get(1) == b"a"
    assert table.values.get(2) == large
    assert table.values.get(2) == large
    assert len(table.asked) == 3, "nor is it kept"


def test_more_than_there_is_room_for_is_dropped_and_less_is_read_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_ahead, "MAX_BYTES_AHEAD", 1000)
    table = Table(dict.fromkeys(range(100), bytes(300)))
    for key in (0, 50, 0):
        assert table.values.get(key) == bytes(300)
    assert [len(keys) for keys in table.asked] == [4, 2, 2]


def test_as_much_is_read_at_once_as_before_where_all_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the crawl: room is made for what comes, and it is not too much that waits."""
    monkeypatch.setattr(read_ahead, "MAX_BYTES_AHEAD", 5000)
    table = Table(dict.fromkeys(range(400), bytes(300)))
    assert all(table.values.get(key) == bytes(300) for key in range(400))
    assert len(table.asked) < 400 / 3


def test_a_table_that_another_process_writes_is_asked_each_time() -> None:
    table = Table({1: b"a", 2: b"b"}, keeps=False)
    for key in (1, 2, 1):
        table.values.get(key)
    assert table.asked == [[1], [2], [1]]
