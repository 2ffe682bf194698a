"""A guard against sites that make up URLs without end."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.model.candidate import TrapCounts
from ultracrawl.rules.candidates.stages import query_rule, site_rule

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
        self.per_site = per_site
        self.variations = variations
        self._sites = dict(known) if per_site else {}
        self._queries = dict(queries or {})
        self._most_paths = paths
        self._site_rule, self._query_rule = site_rule(per_site), query_rule(variations)

    def counts_of(self, url: str, site: str) -> TrapCounts:
        """Return what is counted now that concerns a URL."""
        return TrapCounts(self._sites.get(site, 0), self._queries.get(url.partition("?")[0], 0))

    def rejects(self, url: str, site: str) -> str | None:
        """Count a new URL that is inside; returns the rule that excludes it, or None. Only what passes is counted."""
        path = url.partition("?")[0] if self.variations and "?" in url else None
        if path is not None and self.variations and self._queries.get(path, 0) >= self.variations:
            return self._query_rule
        if self.per_site:
            number = self._sites.get(site, 0)
            if number >= self.per_site:
                return self._site_rule
            self._sites[site] = number + 1
        if path is not None:
            self._count_query(path)
        return None

    def _count_query(self, path: str) -> None:
        if path not in self._queries and len(self._queries) >= self._most_paths:
            full = {
                path: number for path, number in self._queries.items() if number >= (self.variations or 0)
            }
            self._queries = full if len(full) < self._most_paths // 2 else {}
        self._queries[path] = self._queries.get(path, 0) + 1
