"""What an index had is known without its engine, as long as nothing has changed in its folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.memory_index import MemoryIndex

from ultracrawl.errors import IndexDamagedError
from ultracrawl.index import Deletion, SearchQuery, repair
from ultracrawl.index.destinations import Batch, EngineDestination
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.repair import mark_suspect, note_counts, noted_count

from .conftest import ATTRIBUTES, DISK_ENGINES, document

DAY = 24 * 3600 * 1_000_000_000


@pytest.fixture(params=DISK_ENGINES)
def config(request: pytest.FixtureRequest, tmp_path: Path) -> IndexConfig:
    return IndexConfig(request.param, tmp_path / "index", tuple(ATTRIBUTES.values()))


def deliver(config: IndexConfig, *urls: str) -> None:
    """Do what an index process does for a crawl."""
    destination = EngineDestination(open_index(config), config)
    destination.deliver(Batch("1", [document(url, "heron") for url in urls]))
    destination.close()


def write_beside(config: IndexConfig) -> None:
    index = open_index(config)
    index.apply([Deletion("s", "/a")])
    index.close()


def largest(config: IndexConfig) -> Path:
    files = (path for path in config.path.rglob("*") if path.is_file())
    return max(files, key=lambda one: one.stat().st_size)


def damage_keeping_its_time(config: IndexConfig) -> None:
    file = largest(config)
    before, data = file.stat(), bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def grow_old(config: IndexConfig) -> None:
    verified = config.path / "verified.txt"
    at = verified.stat().st_mtime_ns - DAY
    os.utime(verified, ns=(at, at))


CHANGES: dict[str, Callable[[IndexConfig], object]] = {
    "another commit": write_beside,
    "damage": damage_keeping_its_time,
    "a lost file": lambda config: largest(config).unlink(),
    "what a search found": lambda config: mark_suspect(config.path, "damage"),
    "a day": grow_old,
    "a note that is no note": lambda config: (config.path / "counted.json").write_text('{"files": 1}'),
    "no note": lambda config: (config.path / "counted.json").unlink(),
}


def test_documents_are_known_after_a_crawl_by_source(config: IndexConfig) -> None:
    assert noted_count(config, "s") == 0, "there is no index"
    deliver(config, "/a", "/b")
    assert noted_count(config, "s") == 2
    assert noted_count(config, "other") == 0
    deliver(config, "/c")
    assert noted_count(config, "s") == 3
    open_index(config).search(SearchQuery("heron"))
    assert noted_count(config, "s") == 3, "who reads changes nothing"


@pytest.mark.parametrize("what", CHANGES)
def test_they_are_not_known_after_a_change(config: IndexConfig, what: str) -> None:
    deliver(config, "/a", "/b")
    assert noted_count(config, "s") == 2
    CHANGES[what](config)
    assert noted_count(config, "s") is None


def test_they_are_not_known_in_another_place_or_by_another_engine_or_schema(
    config: IndexConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver(config, "/a")
    other = next(engine for engine in DISK_ENGINES if engine != config.engine)
    assert noted_count(replace(config, engine=other), "s") is None
    shutil.copytree(config.path, tmp_path / "copy")
    assert noted_count(replace(config, path=tmp_path / "copy"), "s") is None
    monkeypatch.setattr(repair, "SCHEMA_VERSION", repair.SCHEMA_VERSION + 1)
    assert noted_count(config, "s") is None


def test_a_damaged_index_is_not_noted(config: IndexConfig) -> None:
    write_beside(config)
    index = open_index(config)
    index.apply([document("/a", "heron")])
    damage_keeping_its_time(config)
    with pytest.raises(IndexDamagedError):
        note_counts(index, config)
    index.close()
    assert noted_count(config, "s") is None


def test_a_commit_beside_the_counting_is_not_overlooked(
    config: IndexConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_beside(config)
    index = open_index(config)
    index.apply([document("/a", "heron")])
    count = index.count

    def count_while_another_writes(source: str = "") -> int:
        number = count(source)
        write_beside(config)
        return number

    monkeypatch.setattr(index, "count", count_while_another_writes)
    note_counts(index, config)
    index.close()
    assert noted_count(config, "s") is None


def test_an_index_that_is_not_in_files_of_its_folder_is_not_noted(
    config: IndexConfig, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    note_counts(MemoryIndex({}), IndexConfig("whoosh", tmp_path))
    deliver(config, "/a")
    elsewhere = replace(config, path=tmp_path, options={"place": str(config.path)})
    note_counts(open_index(config), elsewhere)
    assert noted_count(elsewhere, "s") is None
