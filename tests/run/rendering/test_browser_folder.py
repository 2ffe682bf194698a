"""The temporary folder of a browser: it goes with the browser, or with the next one if the crawl was killed."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ultracrawl.run.rendering import browser_folder
from ultracrawl.run.rendering.browser_folder import BrowserFolder
from ultracrawl.system.temporary_folder import NAME_BYTES, OwnedFolder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of temporary files, whose name is short enough for the sockets of Chromium."""
    with tempfile.TemporaryDirectory() as made:
        monkeypatch.setattr(tempfile, "tempdir", made)
        yield Path(made)


def left_by_killed_process(place: Path) -> Path:
    """Return the folder of a process that was killed, with a file in it."""
    ours, theirs = os.pipe()
    process = os.fork()
    if not process:
        folder = OwnedFolder(place)
        (folder.path / "profile").mkdir()
        (folder.path / "profile" / "file").write_text("left")
        os.write(theirs, str(folder.path).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    folder_of_killed = Path(os.read(ours, 1000).decode())
    os.waitpid(process, 0)
    os.close(ours)
    os.close(theirs)
    return folder_of_killed


def test_what_a_killed_crawl_left_is_removed_by_the_next_and_nothing_else(place: Path) -> None:
    left, living = left_by_killed_process(place), OwnedFolder(place)
    assert not left.exists()
    linked = left_by_killed_process(place).rename(place / "elsewhere")
    others = [place / name for name in ("ultracrawl-owned-new", "playwright-artifacts-x")]
    for other in others:
        other.mkdir()
    (place / "ultracrawl-owned-link").symlink_to(linked)
    assert BrowserFolder().path.exists()
    assert all(folder.exists() for folder in (living.path, linked, *others))


def test_a_browser_and_no_other_process_has_its_files_in_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        folder, other = BrowserFolder(), BrowserFolder()
        async with folder.taken_by_processes():
            assert os.environ["TMPDIR"] == str(folder.path)
            waiting = asyncio.ensure_future(taken(other))
            await asyncio.sleep(0)
            assert os.environ["TMPDIR"] == str(folder.path)
        assert await waiting == str(other.path)
        (folder.path / "profile").mkdir()
        for one in (folder, other):
            await one.remove()

    async def taken(folder: BrowserFolder) -> str:
        async with folder.taken_by_processes():
            return os.environ["TMPDIR"]

    for before in ("/before", None):
        if before:
            monkeypatch.setenv("TMPDIR", before)
        else:
            monkeypatch.delenv("TMPDIR")
        monkeypatch.setattr(browser_folder, "_environment", asyncio.Lock())  # one belongs to one event loop
        asyncio.run(scenario())
        assert os.environ.get("TMPDIR") == before
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("more", [0, 1])
def test_its_path_is_short_enough_for_a_socket(
    place: Path, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    deep = place / ("x" * (62 - NAME_BYTES - len(str(place)) - 1 + more))
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    monkeypatch.setattr(browser_folder, "_USUAL", place)
    made = BrowserFolder().path
    assert len(str(made)) <= 62
    assert made.parent == (place if more else deep)
