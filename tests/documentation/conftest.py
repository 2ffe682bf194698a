"""A reader who does what pages say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from documentation.reader import Reader


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """Return a reader in an empty folder; what it has started ends with the test."""
    reader = Reader(tmp_path, "8765", "8480", "8000")
    try:
        yield reader
    finally:
        reader.end()
