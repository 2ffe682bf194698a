"""What a check has to say about a definition."""

from __future__ import annotations

from typing import NamedTuple

from ultracrawl.sources.reading.tree import Path


class Doubt(NamedTuple):
    """A mistake, or with `fatal` False an advice, at a place below the source (or the file)."""

    path: Path
    problem: str
    instead: str
    fatal: bool = True
