"""Every file of an index, damaged in every way: no search fails unknown to the next crawl, and all is mended."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.damage import DAMAGES

from ultracrawl.errors import IndexDamagedError
from ultracrawl.index import Deletion, IndexEngine, SearchQuery
from ultracrawl.index.engine import HasFiles
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.repair import mark_suspect, probe, repair_index

from .conftest import ATTRIBUTES, document

FILES = {
    "whoosh": ["*.toc", "*.seg", "MAIN_WRITELOCK"],
    "tantivy": [
        "current", "1/meta.json", "1/ultracrawl.json", "1/.managed.json", "1/*.store", "1/*.term", "1/*.idx",
        "1/*.pos", "1/*.fast", "1/*.fieldnorm", "1/*.del", "write.lock",
    ],
}  # fmt: skip
HARMLESS = {"MAIN_WRITELOCK", "1/.managed.json", "write.lock"}
DOCUMENTS = 40
SECOND = 1_000_000_000
HOUR = 3600 * SECOND
QUERIES = [
    SearchQuery("heron", source="s", limit=100),
    SearchQuery("rare7"),
    SearchQuery('"grey heron"', limit=100),
    SearchQuery("her*", sort="Size"),
    SearchQuery("", limit=100, facets=("Author",)),
]


def opened(engine: str, path: Path) -> IndexEngine:
    return open_index(IndexConfig(engine, path, tuple(ATTRIBUTES.values())))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An index of each engine, of two commits, with a document that was deleted."""
    paths = {}
    for engine in FILES:
        path = paths[engine] = tmp_path_factory.mktemp(engine) / "index"
        index = opened(engine, path)
        for start in (0, DOCUMENTS // 2):
            numbers = range(start, start + DOCUMENTS // 2)
            text = "the grey heron waits at the water "
            index.apply(
                document(f"/{n}", f"{text * 20} rare{n}", f"Heron {n}", Size=[n], Author=["Lee"])
                for n in numbers
            )
        index.apply([Deletion("s", "/3")])
        index.close()
    return paths


def damage_found(path: Path, work: Callable[[], object]) -> str:
    """Return what was said of damage: one line that names the index and what mends it; empty without."""
    try:
        work()
    except IndexDamagedError as error:
        told, what = str(error), error.problem
    else:
        return ""
    assert str(path) in told
    assert "\n" not in told
    assert "`ultracrawl index rebuild`" in told
    return what


def search_finds(index: IndexEngine, path: Path) -> str:
    """Ask all questions, and return the damage that was found; an answer may also lack documents."""
    found = (damage_found(path, partial(index.search, query)) for query in QUERIES)
    return next(filter(None, found), "")


CASES = [(engine, file, damage) for engine, files in FILES.items() for file in files for damage in DAMAGES]


@pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize(("engine", "file", "damage"), CASES, ids=str)
def test_damage_is_recognised_and_mended(
    made: dict[str, Path], tmp_path: Path, engine: str, file: str, damage: str
) -> None:
    path = tmp_path / "index"
    shutil.copytree(made[engine], path)
    DAMAGES[damage](max(path.glob(file), key=lambda one: one.stat().st_size))
    index = opened(engine, path)
    if damage_found(path, partial(probe, index, path, "s")):
        assert index.check()
    elif what := search_finds(index, path):
        mark_suspect(path, what)
        assert damage_found(path, partial(probe, index, path, "s"))
    if index.check():
        repair_index(index, path)
    index.close()
    index = opened(engine, path)
    assert index.check() == []
    assert not search_finds(index, path)
    assert probe(index, path, "s") <= DOCUMENTS - 1
    if file in HARMLESS:
        assert index.count() == DOCUMENTS - 1
    nothing_left = not index.count()
    assert len(list(path.glob("damaged-*"))) == nothing_left, "kept for who wants to look at it"
    index.apply([document("/new", "heron", "new")])
    assert index.search(SearchQuery("new")).total == 1
    index.close()


def turn_bit(path: Path, place: int) -> None:
    """Change the file as it is, as disks do: others have it open."""
    with path.open("r+b") as stream:
        stream.seek(place)
        (byte,) = stream.read(1)
        stream.seek(place)
        stream.write(bytes([byte ^ 4]))


BITS = [("whoosh", "*.seg"), *(("tantivy", file) for file in FILES["tantivy"] if "*" in file)]


@pytest.mark.parametrize(("engine", "file"), BITS, ids=str)
def test_one_bit_is_found_by_the_next_crawl(
    made: dict[str, Path], tmp_path: Path, engine: str, file: str
) -> None:
    """Wherever it is, except beside the checksum itself."""
    path = tmp_path / "index"
    shutil.copytree(made[engine], path)
    damaged = max(path.glob(file), key=lambda one: one.stat().st_size)
    checked = damaged.stat().st_size - 8
    if engine == "tantivy":
        checked -= int.from_bytes(damaged.read_bytes()[-8:-4], "little")
    for place in {*range(0, checked, max(1, checked // 8)), checked - 1}:
        turn_bit(damaged, place)
        index = opened(engine, path)
        assert damage_found(path, partial(probe, index, path, "s")), place
        assert index.check(), place
        index.close()
        turn_bit(damaged, place)
    index = opened(engine, path)
    assert probe(index, path, "s") == DOCUMENTS - 1
    index.close()


@pytest.mark.parametrize(("engine", "file"), BITS[:2], ids=str)
def test_files_are_compared_when_they_were_written_and_once_a_day(
    made: dict[str, Path], tmp_path: Path, engine: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index"
    shutil.copytree(made[engine], path)
    index = opened(engine, path)
    assert isinstance(index, HasFiles)
    asked = list[int]()
    damaged_files = index.damaged_files
    monkeypatch.setattr(
        index, "damaged_files", lambda since: [asked.append(since), *damaged_files(since)][1:]
    )
    before = time.time_ns()
    probe(index, path, "s")
    probe(index, path, "s")
    assert asked[0] == 0
    assert before - 10 * SECOND < asked[1] <= time.time_ns()
    for ago, everything in ((23 * HOUR, False), (25 * HOUR, True), (-HOUR, True)):
        at = time.time_ns() - ago
        os.utime(path / "verified.txt", ns=(at, at))
        probe(index, path, "s")
        assert (asked[-1] == 0) is everything, "a time to come says nothing"
    (damaged, *_) = path.glob(file)
    turn_bit(damaged, damaged.stat().st_size // 2)
    now = time.time_ns()
    os.utime(damaged, ns=(now, now - HOUR))
    assert damaged_files(now - SECOND) == []
    assert len(damaged_files(now - HOUR)) == 1
    index.close()


def test_a_segment_that_is_not_as_it_was_written_is_never_merged(
    made: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "index"
    shutil.copytree(made["whoosh"], path)
    (damaged, *_) = path.glob("*.seg")
    turn_bit(damaged, damaged.stat().st_size - 9)
    index = opened("whoosh", path)
    assert damage_found(path, index.optimise)
    assert len(list(path.glob("*.seg"))) == 2
    repair_index(index, path)
    assert index.check() == []
    index.close()


def test_a_segment_of_an_earlier_version_has_no_checksum(made: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "index"
    shutil.copytree(made["whoosh"], path)
    for file in path.glob("*.seg"):
        os.truncate(file, file.stat().st_size - 8)
    index = opened("whoosh", path)
    assert index.check() == []
    assert probe(index, path, "s") == DOCUMENTS - 1
    index.optimise()
    assert index.search(QUERIES[0]).total == DOCUMENTS - 1
    index.close()
