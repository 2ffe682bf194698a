"""Limits with slack (FAST 5.17), and a guard against sites that make up URLs without end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True)
class SlackLimit:
    """A limit that is over once a value passes it, and under again only when the value is `slack` away from it.

    With `falling` a small value is the bad one (free disk space), else a large one (documents). A `limit` of None
    or 0 is no limit.
    """

    limit: float | None
    slack: float
    falling: bool = False
    over: bool = False

    def update(self, value: float) -> bool:
        """Take note of a value; returns whether the limit is over."""
        if not self.limit:
            return False
        bad, good = self.limit, self.limit + (self.slack if self.falling else -self.slack)
        if self.falling:
            self.over = value <= good if self.over else value < bad
        else:
            self.over = value >= good if self.over else value >= bad
        return self.over


PATHS = 50_000
"""Paths whose queries are counted."""


class TrapGuard:
    """Bounds sites that make up URLs without end: calendars, combinations of filters, session ids (FAST 5.1 B9, B11).

    Counts the URLs of each site, and the queries of each path. Only URLs that are not known yet are counted, so a
    navigation bar costs nothing. What is known already, by site and by path, is where counting begins: bounds hold over
    all runs together. `paths` bounds the memory: when so many paths were met, only those that are full are
    remembered, and counting of the others begins anew.
    """

    def __init__(
        self,
        per_site: int | None,
        variations: int | None,
        known: Mapping[str, int],
        queries: Mapping[str, int] | None = None,
        paths: int = PATHS,
    ) -> None:
        self._per_site = per_site
        self._variations = variations
        self._sites = dict(known) if per_site else {}
        self._queries = dict(queries or {})
        self._most_paths = paths
        self._site_rule = f"limits.urls_per_site {per_site}"
        self._query_rule = f"limits.query_variations {variations}"

    def rejects(self, url: str, site: str) -> str | None:
        """Count a new URL that is inside; returns the rule that turns it away, or None. Only what passes is counted."""
        path = url.partition("?")[0] if self._variations and "?" in url else None
        if path is not None and self._variations and self._queries.get(path, 0) >= self._variations:
            return self._query_rule
        if self._per_site:
            number = self._sites.get(site, 0)
            if number >= self._per_site:
                return self._site_rule
            self._sites[site] = number + 1
        if path is not None:
            self._count_query(path)
        return None

    def _count_query(self, path: str) -> None:
        if path not in self._queries and len(self._queries) >= self._most_paths:
            full = {
                path: number for path, number in self._queries.items() if number >= (self._variations or 0)
            }
            self._queries = full if len(full) < self._most_paths // 2 else {}
        self._queries[path] = self._queries.get(path, 0) + 1
