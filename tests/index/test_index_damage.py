"""Every file of an index, damaged in every way: no search fails unknown to the next crawl, and all is mended."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.damage import DAMAGES

from ultracrawl.errors import IndexDamagedError
from ultracrawl.index import Deletion, IndexEngine, SearchQuery
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
