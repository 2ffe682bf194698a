"""Every storage engine behind one fixture: what is tested here holds for each store, and knows nothing of tables."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from ultracrawl.stores import SiteStore, Store
from ultracrawl.stores.port.engine import StoreEngine
from ultracrawl.stores.project_stores import store_engine
from ultracrawl.system.plugins import STORES

KEPT_IN_MEMORY = {"memory"}
"""Engines whose stores end with their process."""


class Place:
    """Opens the stores of one project; what is open at the end of a test is closed."""

    def __init__(self, name: str, folder: Path, opened: ExitStack) -> None:
        self.name = name
        self.engine: StoreEngine = store_engine(name)
        self.folder = folder
        self._opened = opened

    def open(self, source: str = "s", *, read_only: bool = False) -> Store:
        """Open the store of a source, which a test may close itself."""
        return self._opened.enter_context(
            closing(self.engine.open_store(self.folder, source, read_only=read_only))
        )

    def killed(self, work: Callable[[Store], object]) -> None:
        """Have a process open the store of the source `s`, work with it, and be killed."""
        child = os.fork()
        if not child:
            try:
                work(self.engine.open_store(self.folder, "s"))
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    def open_sites(self) -> SiteStore:
        """Open the store of sites, as one more crawl does."""
        return self._opened.enter_context(closing(self.engine.open_sites(self.folder)))


def _place(name: str, folder: Path) -> Iterator[Place]:
    with ExitStack() as opened:
        yield Place(name, folder, opened)


@pytest.fixture(params=STORES.names)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A project on each engine."""
    yield from _place(request.param, tmp_path / "state")


@pytest.fixture(params=[name for name in STORES.names if name not in KEPT_IN_MEMORY])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A project on each engine whose stores outlive a process."""
    yield from _place(request.param, tmp_path / "state")
