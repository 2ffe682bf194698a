"""What all tests of the service have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.routes import analyse_once
from support.search_processes import end_search_processes

analyse_once()


@pytest.fixture(autouse=True)
def _no_search_process_is_left() -> Iterator[None]:
    yield
    end_search_processes()
