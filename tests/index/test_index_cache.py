"""The durable document cache."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.sentences import sentence

from ultracrawl.errors import IndexStoreError
from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.index.values import change_from_line, change_to_line
from ultracrawl.index.writing.cache import (
    DocumentCache,
    drop_changes,
    next_epoch,
    place_of,
    salvage,
    version_of,
)
from ultracrawl.model import Section

FULL = IndexDocument(
    "s/../x", "/../../etc/passwd", "T\n\u2028", "text \x00 \" 東京",
    {"Author": ["A", "B"], "Size": [1.5], "When": [datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=UTC)]},
)  # fmt: skip


def keys_in(cache: DocumentCache) -> list[int]:
    """Return the keys of all changes that wait in sealed segments, in their order."""
    return [key for path in cache.sealed() for key, _ in cache.read(path)]


def test_changes_come_back_as_they_went_in(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "c")
    assert cache.seal() is None
    cache.append(-(2**63), FULL)
    cache.append(2**63 - 1, Deletion("s", "/gone"))
    cache.append(3, replace(FULL, secret_text=True))
    assert cache.size > 0
    cache.sync()
    path = cache.seal()
    assert path is not None
    assert list(cache.read(path)) == [
        (-(2**63), FULL),
        (2**63 - 1, Deletion("s", "/gone")),
        (3, replace(FULL, secret_text=True)),
    ]
    assert cache.sealed() == [path]
    assert cache.size == 0
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_a_segment_is_not_closed_while_another_thread_syncs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, synced, sync = threading.Event(), threading.Event(), list[int](), os.fsync

    def slow(descriptor: int) -> None:
        if not begun.is_set():
            begun.set()
            go_on.wait(60)
        sync(descriptor)
        synced.append(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    cache = DocumentCache(tmp_path)
    cache.append(1, FULL)
    threads = [threading.Thread(target=cache.sync), threading.Thread(target=cache.seal)]
    threads[0].start()
    assert begun.wait(60)
    cache.append(2, FULL)
    threads[1].start()
    threads[1].join(0.2)  # without a lock it is done by then
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert len(synced) == 2
    assert keys_in(cache) == [1, 2]


def test_what_is_on_disk_is_not_synced_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced, sync = list[int](), os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (sync(descriptor), synced.append(descriptor)))
    cache = DocumentCache(tmp_path)
    for number, times in enumerate((1, 2), 1):
        cache.append(number, FULL)
        cache.sync()
        cache.sync()
        assert len(synced) == times
    cache.seal()
    cache.append(3, FULL)
    cache.sync()
    assert len(synced) == 3
    cache.close()


def test_a_sync_that_failed_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DocumentCache(tmp_path)
    cache.append(1, FULL)
    asked = list[int]()

    def failing(descriptor: int) -> None:
        asked.append(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    for _ in range(2):
        with pytest.raises(IndexStoreError):
            cache.sync()
    assert len(asked) == 2
    monkeypatch.undo()
    cache.close()


def test_segments_are_listed_oldest_first_and_numbers_are_not_used_again(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path)
    paths = []
    for n in range(12):
        cache.append(n, Deletion("s", f"/{n}"))
        paths.append(cache.seal())
    assert cache.sealed() == paths
    cache = DocumentCache(tmp_path)
    cache.append(99, Deletion("s", "/"))
    assert cache.seal() not in paths
    assert keys_in(cache) == [*range(12), 99]


def test_the_limit_is_reported(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path, limit=1000)
    cache.append(1, IndexDocument("s", "/", "", "x" * 500))
    assert cache.size < cache.limit
    cache.append(2, IndexDocument("s", "/", "", "x" * 500))
    assert cache.size >= cache.limit
    cache.close()
    assert len(cache.sealed()) == 1


TORN = [
    ("whole", b"", {1, 2}),
    ("half_line", b'[3,"s","/thi', {1, 2}),
    ("long_half_line", b'[3,"s","/thi' + b"x" * 200_000, {1, 2}),
]


@pytest.mark.parametrize(("tail", "keys"), [t[1:] for t in TORN], ids=[t[0] for t in TORN])
def test_a_left_over_segment_is_sealed_without_its_torn_line(
    tmp_path: Path, tail: bytes, keys: set[int]
) -> None:
    program = (
        "import os, sys; from pathlib import Path; from ultracrawl.index import Deletion\n"
        "from ultracrawl.index.writing.cache import DocumentCache; c = DocumentCache(Path(sys.argv[1]))\n"
        "c.append(1, Deletion('s', '/1')); c.append(2, Deletion('s', '/2')); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=60)
    (left,) = tmp_path.glob("*.open")
    with left.open("ab") as file:
        file.write(tail)
    cache = DocumentCache(tmp_path)
    assert len(cache.sealed()) == 1
    assert set(keys_in(cache)) == keys


def test_an_empty_left_over_segment_vanishes(tmp_path: Path) -> None:
    (tmp_path / "0000000001.open").write_bytes(b"[1,")
    assert DocumentCache(tmp_path).sealed() == []
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_segment_is_named_with_its_line(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path)
    cache.append(1, Deletion("s", "/"))
    path = cache.seal()
    assert path is not None
    path.write_bytes(path.read_bytes() + b"[1,2]\n")
    with pytest.raises(IndexStoreError, match=r"sealed:2 is damaged"):
        list(cache.read(path))


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from ultracrawl.errors import IndexStoreError\n"
        "from ultracrawl.index import IndexDocument; from ultracrawl.index.writing.cache import DocumentCache\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "cache = DocumentCache(Path(sys.argv[1]))\n"
        "for n in range(10):\n"
        "    try: cache.append(n, IndexDocument('s', f'/{n}', '', 'x' * 20_000)); cache.sync()\n"
        "    except IndexStoreError as e: print(n, e)\n"
        "cache.append(99, IndexDocument('s', '/small', '', 'x'))\n"
        "path = cache.seal(); print([k for k, _ in cache.read(path)])\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    lines = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    assert lines[-1] == "[0, 1, 99]"
    assert len(lines) == 9
    assert lines[0].startswith("2 document cache ")
    assert sentence("files.too_large") in lines[0]


def test_what_is_sound_in_a_damaged_segment_stays(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path)
    for key in (1, 2, 3):
        cache.append(key, Deletion("s", f"/{key}"))
    path = cache.seal()
    assert path is not None
    assert salvage(path) == ""
    first, _, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(damaged := first + b"[1,2]\n" + last)
    assert f"{path.name}:2 is damaged" in salvage(path)
    assert [key for key, _ in cache.read(path)] == [1, 3]
    assert path.with_suffix(".damaged").read_bytes() == damaged
    assert salvage(path) == ""


WHOLE = IndexDocument(
    "src", "http://h/a", "A", "one two", {"Size": [3.0]}, secret_text=True, anchors=("a page",),
    section_anchors=(("part", "its part"),), sections=(Section(0, 1, "part", "Part"), Section(4, 7, "", "Two")),
    acl=("staff", "ann"), depth=3,
)  # fmt: skip


CHANGES: list[Change] = [
    WHOLE,
    replace(WHOLE, anchors=()),
    replace(WHOLE, acl=(), sections=(), section_anchors=(), depth=0),
    Deletion("src", "u"),
    NewAnchors("src", "u", ()),
    NewAnchors("src", "u", ("x",), (("part", "y"),)),
    NewAnchors("src", "u", (), acl=("user:ann", "group:staff")),
    NewAnchors("src", "u", ("x",), (("part", "y"),), 3, acl=()),
]


def test_a_change_comes_back_from_its_line(subtests: pytest.Subtests) -> None:
    for number, change in enumerate(CHANGES):
        with subtests.test(number=number):
            assert change_from_line(change_to_line(7, change)) == (7, change)


def test_an_epoch_is_higher_than_all_before_whatever_the_clock_says(tmp_path: Path) -> None:
    moments = iter([1000.9, 1000.9, 2000.0, 5.0])
    assert [next_epoch(tmp_path / "new", lambda: next(moments)) for _ in range(4)] == [1000, 1001, 2000, 2001]
    (tmp_path / "new" / "@epoch").write_text("damaged")
    assert next_epoch(tmp_path / "new", lambda: 3000.0) == 3000


def test_versions_grow_with_epoch_segment_and_batch(tmp_path: Path) -> None:
    versions = []
    for epoch in (1_800_000_000, 1_800_000_001):
        cache = DocumentCache(tmp_path, epoch=epoch)
        for number in range(2):
            cache.append(number, Deletion("s", "/"))
            path = cache.seal()
            assert path is not None
            versions += [version_of(path, batch) for batch in (1, 2, 300)]
        if epoch == 1_800_000_000:
            for path in cache.sealed():
                path.unlink()  # numbers begin anew
    assert versions == sorted(set(versions))
    assert 0 < versions[0] < versions[-1] < 2**63


def test_segments_of_one_epoch_come_before_those_of_the_next(tmp_path: Path) -> None:
    for number, epoch in enumerate((0, 1_800_000_000, 1_800_000_001)):
        cache = DocumentCache(tmp_path, epoch=epoch)
        cache.append(number, Deletion("s", "/"))
        cache.close()
    assert keys_in(cache) == [0, 1, 2]
    versions = [version_of(path, 1) for path in cache.sealed()]
    assert versions[0] != 0, "a segment of an earlier program has a version"
    assert versions[1] < versions[2]


def test_changes_that_do_not_count_any_more_are_taken_out(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "c")
    for key in (1, 2, 1):
        cache.append(key, replace(FULL, url=f"/{key}"))
    cache.append(2, Deletion("s", "/2"))
    path = cache.seal()
    assert path is not None
    drop_changes(path, lambda key, change: key == 1 or isinstance(change, Deletion))
    assert [(key, change.url) for key, change in cache.read(path)] == [(2, "/2")]
    drop_changes(path, lambda key, change: True)
    assert cache.sealed() == []


def test_caches_of_a_folder_have_a_name_that_stays_and_no_others_have(tmp_path: Path) -> None:
    one, other = (place_of(tmp_path / name) for name in ("one", "other"))
    assert one != other
    assert place_of(tmp_path / "one") == one
