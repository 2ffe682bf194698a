"""The machines of one project on one database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from stores.conftest import a_schema
from support.machines import Machines


@pytest.fixture
def machines(tmp_path: Path, database: str) -> Iterator[Machines]:
    with a_schema(database) as options, ExitStack() as stack:
        yield Machines(tmp_path, options, stack)
