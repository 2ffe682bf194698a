"""Space of deleted documents is freed without being asked for, in every engine on disk, in steps that are bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ultracrawl.index import Deletion, IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.destinations import EngineDestination
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.locking import LOCK, write_lock
from ultracrawl.index.reclaiming import MIN_DELETED, SegmentCounts, segment_to_reclaim
from ultracrawl.index.tantivy import tantivy_index
from ultracrawl.index.whoosh import whoosh_index
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.process import IndexProcess
from ultracrawl.index.writing.segments import Committed

from .conftest import ATTRIBUTES, document

NUMBER = 5 * MIN_DELETED
LOCKS = {"whoosh": "MAIN_WRITELOCK", "tantivy": LOCK}


@pytest.fixture(params=["whoosh", "tantivy"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def index(kind: str, tmp_path: Path) -> Iterator[IndexEngine]:
    """An index of which less than a fifth is deleted; one more document, and it is a fifth."""
    opened = open_index(IndexConfig(kind, tmp_path / "i", tuple(ATTRIBUTES.values())))
    opened.apply([named(n) for n in range(NUMBER - 100)])
    opened.apply([named(n) for n in range(NUMBER - 100, NUMBER)])
    opened.apply([Deletion("s", f"/{n}") for n in range(MIN_DELETED - 1)])
    yield opened
    opened.close()


def named(number: int) -> IndexDocument:
    one = document(
        f"/{number}", f"word{number} herons wade", f"Title {number}", Author=["Ann Lee"], Size=[number]
    )
    return replace(one, acl=("staff",), depth=2, anchors=("a bird",))


def kept(index: IndexEngine) -> dict[str, IndexDocument]:
    found = {one.url: one for one in index.documents()}
    assert len(found) == index.count()
    return found


def test_a_fifth_that_is_deleted_makes_room_and_nothing_else_changes(index: IndexEngine) -> None:
    index.maintain()
    assert (index.facts().deleted, index.facts().reclaimed) == (MIN_DELETED - 1, 0)
    assert index.reclaim() is False
    index.apply([Deletion("s", f"/{MIN_DELETED - 1}")])
    before = kept(index)
    index.maintain()
    facts = index.facts()
    assert (facts.documents, facts.deleted, facts.reclaimed) == (NUMBER - MIN_DELETED, 0, 1)
    assert facts.as_json()["reclaimed"] == 1
    assert kept(index) == before
    assert index.check() == []
    assert [hit.url for hit in index.search(SearchQuery(f"word{NUMBER - 1}", principals=("staff",)))] == [
        f"/{NUMBER - 1}"
    ]
    assert index.search(SearchQuery("herons", principals=())).total == 0
    index.apply([Deletion("s", f"/{NUMBER - 1}")])
    assert index.count() == NUMBER - MIN_DELETED - 1


def test_documents_that_were_replaced_count_as_well(index: IndexEngine) -> None:
    index.apply([named(n) for n in range(MIN_DELETED, 2 * MIN_DELETED)])
    index.maintain()
    assert index.facts().deleted == 0
    assert index.count() == NUMBER - MIN_DELETED + 1


def test_it_happens_at_the_end_of_a_crawl_too(index: IndexEngine, kind: str, tmp_path: Path) -> None:
    index.apply([Deletion("s", f"/{n}") for n in range(2 * MIN_DELETED)])
    config = IndexConfig(kind, tmp_path / "i", tuple(ATTRIBUTES.values()))
    EngineDestination(open_index(config)).close()
    assert (index.facts().deleted, index.count()) == (0, NUMBER - 2 * MIN_DELETED)


def test_the_index_process_does_it_before_it_ends(index: IndexEngine, kind: str, tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "cache")
    cache.append(1, Deletion("s", f"/{MIN_DELETED - 1}"))
    path = cache.seal()
    assert path is not None
    process = IndexProcess(IndexConfig(kind, tmp_path / "i", tuple(ATTRIBUTES.values())))
    process.submit(path)
    assert [type(report) for report in process.close()] == [Committed]
    facts = index.facts()
    assert (facts.documents, facts.deleted, facts.reclaimed) == (NUMBER - MIN_DELETED, 0, 1)


def test_it_waits_for_nobody(index: IndexEngine, kind: str, tmp_path: Path) -> None:
    index.apply([Deletion("s", f"/{MIN_DELETED}")])
    with write_lock(tmp_path / "i", 0.0, LOCKS[kind]):
        assert index.reclaim() is False
    assert index.facts().deleted == MIN_DELETED
    assert index.reclaim() is True


def test_steps_are_bounded(index: IndexEngine, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tantivy_index, "RECLAIM_BATCH", 100)
    monkeypatch.setattr(whoosh_index, "MAX_MERGED_DOCUMENTS", 100)
    index.apply([Deletion("s", f"/{MIN_DELETED}")])
    before, steps = kept(index), 0
    while index.reclaim():
        steps += 1
        assert kept(index) == before
        assert index.check() == []
    if kind == "tantivy":
        assert steps == 3, "a hundred documents of three hundred at a time"
        assert index.facts().deleted == 0
    else:
        assert steps == 0, "the segment is too large; `optimise` asks for it"
        index.optimise()
        assert (index.facts().deleted, index.facts().reclaimed) == (0, 0)


SEGMENTS: list[tuple[list[SegmentCounts], int | None, int | None]] = [
    ([], None, None),
    ([SegmentCounts(0, 0)], None, None),
    ([SegmentCounts(400, 99)], None, None),
    ([SegmentCounts(400, 100)], None, 0),
    ([SegmentCounts(401, 100)], None, None),
    ([SegmentCounts(0, 100)], None, 0),
    (
        [SegmentCounts(300, 60), SegmentCounts(50, 30), SegmentCounts(10, 0), SegmentCounts(30, 10)],
        None,
        1,
    ),
    ([SegmentCounts(300, 60), SegmentCounts(50, 30), SegmentCounts(10, 0)], 40, None),
    ([SegmentCounts(300, 60), SegmentCounts(50, 30), SegmentCounts(10, 10)], 40, 2),
]


def test_which_segment_is_written_anew(subtests: pytest.Subtests) -> None:
    for segments, largest, chosen in SEGMENTS:
        with subtests.test(segments=segments, largest=largest):
            assert segment_to_reclaim(segments, largest) == chosen
