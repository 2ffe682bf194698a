"""Projects that many tests look at: the first of them crawls, the others get a copy of its folder."""

from __future__ import annotations

import shutil
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.clock import true_monotonic
from support.project import Ended, Workspace
from support.site import Site

PORT = 19_000
"""The port in the network of this process at which a site is the same one for each test."""
FRESH_SECONDS = 600
"""Seconds after which a project is crawled anew: in a copy nothing may be due that is not due after a crawl."""
DEFINITION = "ultracrawl.yaml"

Files = frozenset[tuple[str, int, int]]
"""Files of a folder, but for the definition: name, size, and when it was written."""


@dataclass(frozen=True)
class _Crawled:
    folder: Path
    at: float
    ended: Ended


@dataclass(frozen=True)
class _Left:
    """What the last crawl of a workspace left: of what that was made, and its files."""

    history: Hashable
    files: Files


class CrawledProjects:
    """Folders of projects after each of their crawls, by what was crawled until then."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._crawled: dict[Hashable, _Crawled] = {}
        self._left: dict[Path, _Left] = {}

    def crawl(self, workspace: Workspace, site: Site, code: int = 0) -> Ended:
        """Have a workspace be as after its first crawl, or one more; returns how that ended.

        The site is asked only if no other test crawled the same. Between two crawls nothing but the site and the
        definition may change.
        """
        history = (
            self._history(workspace),
            (workspace.directory / DEFINITION).read_bytes(),
            site.content,
            code,
        )
        known = self._crawled.get(history)
        if known is None or true_monotonic() - known.at >= FRESH_SECONDS:
            at = true_monotonic()
            ended = workspace.crawl(code=code)
            known = _Crawled(self._folders.mktemp("crawled"), at, ended)
            shutil.copytree(workspace.directory, known.folder, dirs_exist_ok=True)
            self._crawled[history] = known
        else:
            _replace(workspace.directory, known.folder)
        self._left[workspace.directory] = _Left(history, _files(workspace.directory))
        return known.ended

    def _history(self, workspace: Workspace) -> Hashable:
        """Return of what the folder of a workspace was made."""
        files, left = _files(workspace.directory), self._left.get(workspace.directory)
        if left is None:
            assert not files, "this is not the first crawl, or plug-ins count"
            return None
        assert files == left.files, (
            "something else than the site and the definition has changed since the last crawl"
        )
        return left.history


def _files(folder: Path) -> Files:
    found = ((one, one.stat()) for one in folder.rglob("*") if one.is_file() and one != folder / DEFINITION)
    return frozenset((str(one.relative_to(folder)), stat.st_size, stat.st_mtime_ns) for one, stat in found)


def _replace(folder: Path, other: Path) -> None:
    """Have a folder be a copy of another one."""
    for one in folder.iterdir():
        if one.is_dir():
            shutil.rmtree(one)
        else:
            one.unlink()
    shutil.copytree(other, folder, dirs_exist_ok=True)
