"""What raises documents among the hits, apart from what they say (Ultra Search 5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_BOOST = 1000.0
"""The largest factor of a score."""


@dataclass(frozen=True, slots=True)
class Boosts:
    """What raises documents among the hits."""

    factors: Mapping[str, float] = field(default_factory=dict)
    """Factors of the score by URL, or by the beginning of URLs with a trailing `*`."""
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """URLs that come first, by query."""
