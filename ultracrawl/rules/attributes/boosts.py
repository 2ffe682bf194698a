"""Boosts: score factors that do not depend on the content of documents (Ultra Search 5.4)."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.dataclass import dataclass, field

MOST_BOOST = 1000.0
"""The largest factor of a score."""


@dataclass(frozen=True, slots=True)
class Boosts:
    """Score factors of URLs, and the first hits of queries."""

    factors: Mapping[str, float] = field(default_factory=dict)
    """Score factors by URL, or by URL prefix with a trailing `*`."""
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """URLs of the first hits, by query."""
