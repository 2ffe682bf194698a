"""Counts of queries, and their JSON form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

from ultracrawl.dataclass import dataclass, field

MAX_QUERIES = 5000
"""Different queries of one origin that are counted in a day; further ones count in the totals only."""
PAGE = "page"
"""The origin of queries of the search page."""
LAST_POSITION = 11
"""The position that stands for itself and all behind it."""


@dataclass(slots=True)
class QueryCounts:
    """How often something was searched for, how often without a hit, and how often each position was chosen."""

    searches: int = 0
    without_answers: int = 0
    clicks: Counter[int] = field(default_factory=Counter)
    """Clicks by position, from 1."""

    def add(self, other: QueryCounts) -> None:
        """Add other counts."""
        self.searches += other.searches
        self.without_answers += other.without_answers
        self.clicks.update(other.clicks)

    def to_json(self) -> list[Any]:
        """Return the counts as a JSON array."""
        clicks = {str(position): count for position, count in sorted(self.clicks.items())}
        return [self.searches, self.without_answers, clicks]

    @classmethod
    def from_json(cls, row: list[Any]) -> Self:
        """Return the counts of a JSON array. Raises `ValueError` and others for what is none."""
        searches, without_answers, clicks = row
        positions = Counter({int(position): int(count) for position, count in clicks.items()})
        return cls(int(searches), int(without_answers), positions)


@dataclass(slots=True)
class OriginCounts:
    """The counts of one origin in a day: of all its queries, and by query."""

    total: QueryCounts = field(default_factory=QueryCounts)
    queries: dict[str, QueryCounts] = field(default_factory=dict)

    def add_query(self, text: str, counts: QueryCounts) -> None:
        """Add the counts of a query; an empty text, and a new one above `MAX_QUERIES`, counts in the total only."""
        self.total.add(counts)
        self._add_text(text, counts)

    def add(self, other: OriginCounts) -> None:
        """Add other counts."""
        self.total.add(other.total)
        for text, counts in other.queries.items():
            self._add_text(text, counts)

    def _add_text(self, text: str, counts: QueryCounts) -> None:
        if text and (text in self.queries or len(self.queries) < MAX_QUERIES):
            self.queries.setdefault(text, QueryCounts()).add(counts)


class DayCounts(dict[str, OriginCounts]):
    """The counts of a day by origin."""

    def add_query(self, origin: str, text: str, counts: QueryCounts) -> None:
        """Add the counts of a query."""
        self.setdefault(origin, OriginCounts()).add_query(text, counts)

    def add(self, other: Mapping[str, OriginCounts]) -> None:
        """Add other counts."""
        for origin, counts in other.items():
            self.setdefault(origin, OriginCounts()).add(counts)

    def has_query(self, origin: str, text: str) -> bool:
        """Whether a query of an origin was counted."""
        return origin in self and text in self[origin].queries

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a JSON object."""
        return {
            origin: {
                "total": counts.total.to_json(),
                "queries": {text: one.to_json() for text, one in counts.queries.items()},
            }
            for origin, counts in self.items()
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the counts of a JSON object. Raises `ValueError` and others for what is none."""
        found = cls()
        for origin, counts in values.items():
            queries = {text: QueryCounts.from_json(row) for text, row in counts["queries"].items()}
            found[origin] = OriginCounts(QueryCounts.from_json(counts["total"]), queries)
        return found
