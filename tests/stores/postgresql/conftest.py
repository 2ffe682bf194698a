"""A schema for each test of the PostgreSQL stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stores.conftest import a_schema


@pytest.fixture
def options(database: str) -> Iterator[dict[str, str]]:
    """The options of an engine whose schema nobody else uses."""
    with a_schema(database) as options:
        yield options
