"""Databases for the tests of tables: SQLite in a file, and a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.postgresql import postgresql_server
from support.tables import Base


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server that is there for all tests of a process."""
    with postgresql_server() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.servers)])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        (tmp_path / "tickets.db").touch()
        yield Base(f"sqlite:///{tmp_path / 'tickets.db'}", tmp_path)
        return
    base = Base(request.getfixturevalue("postgresql"), tmp_path)
    base.run("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    yield base
