"""Every storage engine behind one fixture: what is tested here holds for each store, and knows nothing of tables."""

from __future__ import annotations

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

    def __init__(self, engine: StoreEngine, folder: Path, opened: ExitStack) -> None:
        self.engine = engine
        self.folder = folder
        self._opened = opened

    def open(self, source: str = "s", *, read_only: bool = False) -> Store:
        """Open the store of a source, which a test may close itself."""
        return self._opened.enter_context(
            closing(self.engine.open_store(self.folder, source, read_only=read_only))
        )

    def open_sites(self) -> SiteStore:
        """Open the store of sites, as one more crawl does."""
        return self._opened.enter_context(closing(self.engine.open_sites(self.folder)))


def _place(name: str, folder: Path) -> Iterator[Place]:
    with ExitStack() as opened:
        yield Place(store_engine(name), folder, opened)


@pytest.fixture(params=STORES.names)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A project on each engine."""
    yield from _place(request.param, tmp_path / "state")


@pytest.fixture(params=[name for name in STORES.names if name not in KEPT_IN_MEMORY])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A project on each engine whose stores outlive a process."""
    yield from _place(request.param, tmp_path / "state")


@pytest.fixture
def state(place: Place) -> Store:
    """The store of a source whose first run has begun."""
    store = place.open()
    store.begin_run(1.0, "")
    return store


@pytest.fixture
def reopened(kept: Place) -> Callable[[Store | None], Store]:
    """Close a store, if there is one, and open that of the source again."""

    def reopen(store: Store | None = None) -> Store:
        if store is not None:
            store.close()
        return kept.open()

    return reopen
