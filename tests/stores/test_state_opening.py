"""A store that several processes open at the moment of its making."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ultracrawl.stores import SqliteStore


@pytest.mark.parametrize("attempt", range(5))
def test_readers_that_come_while_a_store_is_made_do_not_disturb(tmp_path: Path, attempt: int) -> None:
    path = tmp_path / f"{attempt}.sqlite"
    path.touch()

    def look(_: int) -> int:
        state = SqliteStore(path, "s", read_only=True)
        try:
            return state.records.count_urls().known
        finally:
            state.close()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(look, range(8))) == [0] * 8
