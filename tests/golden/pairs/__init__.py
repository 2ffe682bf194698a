"""The pairs, by what they are about."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from golden.pair import PAIRS, Pair


def load_pairs() -> dict[str, Pair]:
    """Return every pair by its name."""
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        import_module(f"{__name__}.{file.stem}")
    return PAIRS
