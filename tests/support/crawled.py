"""Projects that many tests look at: the first of them crawls, the others get a copy of its folder."""

from __future__ import annotations

import shutil
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.clock import true_monotonic
from support.project import Workspace
from support.site import Site

PORT = 19_000
"""The port in the network of this process at which a site is the same one for each test."""
FRESH_SECONDS = 600
"""Seconds after which a project is crawled anew: in a copy nothing may be due that is not due after a crawl."""


@dataclass(frozen=True)
class _Crawled:
    folder: Path
    at: float


class CrawledProjects:
    """Folders of projects after their first crawl, by what was crawled."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._crawled: dict[Hashable, _Crawled] = {}

    def crawl(self, workspace: Workspace, site: Site) -> None:
        """Have a workspace be as after its first crawl; the site is asked only if no other test crawled the same."""
        definition = workspace.directory / "ultracrawl.yaml"
        assert list(workspace.directory.iterdir()) == [definition], (
            "this is not the first crawl, or plug-ins count"
        )
        of_what = definition.read_bytes(), site.content
        known = self._crawled.get(of_what)
        if known is not None and true_monotonic() - known.at < FRESH_SECONDS:
            shutil.copytree(known.folder, workspace.directory, dirs_exist_ok=True)
            return
        at = true_monotonic()
        workspace.crawl()
        folder = self._folders.mktemp("crawled")
        shutil.copytree(workspace.directory, folder, dirs_exist_ok=True)
        self._crawled[of_what] = _Crawled(folder, at)
