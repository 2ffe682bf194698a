"""A database for nodes, and the machines of one project on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from stores.conftest import a_schema
from support.machines import Machines
from support.postgresql import postgresql_server


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    with postgresql_server() as url:
        yield url


@pytest.fixture
def machines(tmp_path: Path, database: str) -> Iterator[Machines]:
    with a_schema(database) as options, ExitStack() as stack:
        yield Machines(tmp_path, options, stack)
