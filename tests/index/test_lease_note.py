"""How long an index process may send changes of a crawl that may have lost its source."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ultracrawl.index import IndexDocument
from ultracrawl.index.destinations import Batch
from ultracrawl.index.engine import Holder
from ultracrawl.index.engines import compares_versions
from ultracrawl.index.writing.cache import QUEUE_PREFIX, DocumentCache
from ultracrawl.index.writing.lease_note import LeaseNote, noted_lease, seconds_left
from ultracrawl.index.writing.segments import deliver_segment

LEASE = 20.0


@pytest.mark.parametrize(
    ("age", "left"),
    [(0.0, 18.0), (5.0, 13.0), (10.0, 8.0), (10.01, 0.0), (19.0, 0.0), (1e6, 0.0), (-1.0, 0.0)],
)
def test_no_request_begins_after_half_the_lease_and_each_ends_before_it(
    tmp_path: Path, age: float, left: float
) -> None:
    LeaseNote(tmp_path).write(1000.0, LEASE)
    assert seconds_left(tmp_path, lambda: 1000.0 + age) == pytest.approx(left)


def test_a_renewal_counts_at_once_and_without_leases_nothing_is_limited(tmp_path: Path) -> None:
    assert seconds_left(tmp_path) == math.inf
    note = LeaseNote(tmp_path)
    for renewed in (1000.0, 1100.0, 1100.0):
        note.write(renewed, LEASE)
    assert seconds_left(tmp_path, lambda: 1101.0) == pytest.approx(17.0)
    LeaseNote(tmp_path).write(0.0, LEASE)  # the state was copied to a store of one machine
    assert seconds_left(tmp_path, lambda: 5000.0) == math.inf
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "1000.0", "1000.0 20.0 another-start", "x y z", "nan 20.0", "\xe9"])
def test_a_note_that_says_nothing_sure_lets_nothing_begin(tmp_path: Path, text: str) -> None:
    LeaseNote(tmp_path).write(1000.0, LEASE)
    (file,) = tmp_path.iterdir()
    file.write_text(text, encoding="latin-1")
    assert seconds_left(tmp_path, lambda: 1000.0) == 0
    assert noted_lease(tmp_path).holder() == Holder(tmp_path.name, 0), "it is before all others"


def test_each_crawl_that_takes_the_source_is_another_holder(tmp_path: Path) -> None:
    lease = noted_lease(tmp_path)
    assert lease.holder() is None
    for epoch in (5, 6):
        LeaseNote(tmp_path, epoch).write(1000.0, LEASE)  # at the same time
        assert lease.holder() == Holder(tmp_path.name, epoch)
        assert seconds_left(tmp_path, lambda: 1001.0) == pytest.approx(17.0)
    LeaseNote(tmp_path).write(0.0, LEASE)
    assert lease.holder() is None


@pytest.mark.parametrize("is_one_of_several", [False, True], ids=["cache", "queue"])
def test_each_batch_of_a_segment_knows_the_lease_of_its_source(
    tmp_path: Path, is_one_of_several: bool
) -> None:
    cache = DocumentCache(tmp_path)
    cache.append(1, IndexDocument("s", "/a", "A", "text"))
    path = cache.seal()
    assert path is not None
    if is_one_of_several:
        folder = tmp_path / f"{QUEUE_PREFIX}archive"
        folder.mkdir()
        path = path.rename(folder / path.name)
    left: list[tuple[float, Holder | None]] = []

    class Asking:
        def deliver(self, batch: Batch) -> int:
            left.append((batch.lease.seconds_left(), batch.lease.holder()))
            LeaseNote(tmp_path, 7).write(1.0, LEASE)  # long ago
            left.append((batch.lease.seconds_left(), batch.lease.holder()))
            return 1

        def maintain(self) -> None:
            """Do nothing."""

        def close(self) -> None:
            """Do nothing."""

    assert deliver_segment(Asking(), path) == 1
    assert left == [(math.inf, None), (0.0, Holder(tmp_path.name, 7))]


def test_only_indexes_that_several_machines_write_to_need_a_note() -> None:
    pytest.importorskip("opensearchpy")
    assert {name: compares_versions(name) for name in ("whoosh", "opensearch")} == {
        "whoosh": False,
        "opensearch": True,
    }
