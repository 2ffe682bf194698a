"""Every storage engine behind one fixture: what is tested here holds for each store, and knows nothing of tables."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path

import pytest
from support import clock

from ultracrawl.stores import SiteStore, Store
from ultracrawl.stores.port.engine import StoreEngine
from ultracrawl.stores.project_stores import store_engine
from ultracrawl.system.plugins import STORES

KEPT_IN_MEMORY = {"memory"}
"""Engines whose stores end with their process."""


class Place:
    """Opens the stores of one project; what is open at the end of a test is closed."""

    def __init__(
        self, name: str, folder: Path, opened: ExitStack, options: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.options = options
        self.engine: StoreEngine = store_engine(name, options)
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


IN_SERVERS = {"postgresql"}
"""Engines whose stores are in a server."""
_ENGINES = [pytest.param(one, marks=pytest.mark.servers if one in IN_SERVERS else ()) for one in STORES.names]
_numbers = count()


@contextmanager
def a_schema(url: str) -> Iterator[dict[str, str]]:
    """Give the options of an engine whose stores are in a schema of their own, whose clock leaps with the tests."""
    import psycopg

    options = {"url": url, "schema": f"t{os.getpid()}_{next(_numbers)}"}
    opened = store_engine("postgresql", options).open_sites(Path())
    opened.close()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"SET search_path TO {options['schema']}".encode())

        def leap(leapt: float) -> None:
            db.execute(
                "CREATE OR REPLACE FUNCTION moment() RETURNS double precision LANGUAGE sql VOLATILE AS "
                f"'SELECT extract(epoch FROM clock_timestamp())::double precision + {leapt}'".encode()
            )

        with clock.noticed(leap):
            yield options
        db.execute(f"DROP SCHEMA {options['schema']} CASCADE".encode())


def _place(name: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    with ExitStack() as around:
        options = None
        if name in IN_SERVERS:
            options = around.enter_context(a_schema(request.getfixturevalue("database")))
        yield Place(name, folder, around.enter_context(ExitStack()), options)


@pytest.fixture(params=_ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A project on each engine."""
    yield from _place(request.param, tmp_path / "state", request)


@pytest.fixture(params=[one for one in _ENGINES if one.values[0] not in KEPT_IN_MEMORY])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A project on each engine whose stores outlive a process."""
    yield from _place(request.param, tmp_path / "state", request)
