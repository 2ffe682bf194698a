"""Little trees of sources that the tools look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from source_tree import SourceTree

Grow = Callable[[dict[str, str]], SourceTree]


@pytest.fixture
def grow(tmp_path: Path) -> Grow:
    """Write files by their paths, and read the package `ultracrawl` among them."""

    def grown(files: dict[str, str]) -> SourceTree:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        return SourceTree(tmp_path)

    return grown
