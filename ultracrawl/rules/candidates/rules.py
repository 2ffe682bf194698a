"""The stages of a source in their order, spelled out and compiled: the boundary, and what keeps new URLs out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ultracrawl.model import Decision
from ultracrawl.model.candidate import Candidate, Stage, TrapCounts
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.focus import FOCUSED

INDEX_ONLY = "crawling_mode index-only"
"""The rule that keeps out links to URLs that are not known yet."""
REFRESH_ONLY = "refresh_only"
"""The rule that keeps out URLs that were never fetched, while the source or the disk is too full."""
FOR_A_WHILE = frozenset({FOCUSED, REFRESH_ONLY})
"""Rules that may let a URL in later in the same run, or from another page."""


def query_rule(most: int | None) -> str:
    """Return the rule that keeps out further queries of a path."""
    return f"limits.query_variations {most}"


def site_rule(most: int | None) -> str:
    """Return the rule that keeps out further URLs of a site."""
    return f"limits.urls_per_site {most}"


class ClosedStage:
    """Nothing new is let in: by the crawling mode, by a limit of the run, or from a page in another language."""

    name = "new"

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the refusal of a new URL; None for known ones and seeds, and where new ones are let in."""
        if candidate.known or candidate.seed or not candidate.closed:
            return None
        return Decision(False, self.name, candidate.closed, "only URLs that are known already are asked for")


class TrapStage:
    """At most so many URLs are known of what a counter counts (`limits.query_variations`, `limits.urls_per_site`)."""

    name = "limit"

    def __init__(self, counter: str, counted: str, most: int | None, rule: str) -> None:
        """`counter` is one of `TrapCounts`."""
        self._counter, self._counted = counter, counted
        self._most, self._rule = most, rule

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the refusal of another new URL; None as long as there are fewer, and for known URLs."""
        number: int | None = getattr(candidate.counts, self._counter)
        if not self._most or number is None or number < self._most or candidate.known or candidate.seed:
            return None
        told = f"{number} {self._counted} are known; {self._most} are allowed"
        return Decision(False, self.name, self._rule, told)


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
        return TrapCounts(
            self._sites.get(site, 0) if self.per_site else None,
            self._queries.get(url.partition("?")[0], 0) if self.variations and "?" in url else None,
        )

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


class CandidateRules:
    """What decides over a link that has a URL: boundary, what keeps new URLs out, guards against endless sites.

    `traps` counts what is let in; without it nothing is counted.
    """

    def __init__(self, boundary: Boundary, traps: TrapGuard | None = None) -> None:
        self._boundary = boundary
        self._traps = traps or TrapGuard(None, None, {})
        variations, per_site = self._traps.variations, self._traps.per_site
        self.stages: tuple[Stage, ...] = (
            *boundary.stages,
            ClosedStage(),
            TrapStage(
                "path_queries", "URLs of its path with another query", variations, query_rule(variations)
            ),
            TrapStage("site_urls", "URLs of its site", per_site, site_rule(per_site)),
        )
        """The list; the first refusal counts."""

    def candidate(
        self, url: str, depth: int, parent: str, site: str, closed: str = "", *, rules_hold: bool = True
    ) -> Candidate:
        """Return a new URL as it is found now, with what is counted now."""
        counts = self._traps.counts_of(url, site)
        return Candidate(url, depth, parent=parent, rules_hold=rules_hold, closed=closed, counts=counts)

    def known_rejects(self, known: Candidate) -> str | None:
        """Return the rule that keeps out a URL that is known already, or a start URL: nothing is counted for these."""
        if known.rules_hold:
            return self._boundary.rejects(known.url, known.depth, seed=known.seed)
        return self._boundary.rejects_exempt(known.url, known.depth)

    def decisions(self, candidate: Candidate) -> Iterator[Decision]:
        """Yield the answer of every stage that a candidate concerns, in order, also of those behind a refusal."""
        answers = (stage.judge(candidate) for stage in self.stages)
        return (answer for answer in answers if answer is not None)

    def refusal(self, candidate: Candidate) -> Decision | None:
        """Return the first refusal of a candidate, None if it is let in."""
        return next((one for one in self.decisions(candidate) if not one.accept), None)

    def rejects(
        self, url: str, depth: int, parent: str, site: str, closed: str = "", *, rules_hold: bool = True
    ) -> str | None:
        """Return the rule that keeps a new URL out, or None, and count it then; the hot path.

        It gives the rule of `refusal`, without making decisions; a test compares both.
        """
        boundary = self._boundary
        rule = (
            boundary.rejects(url, depth, parent=parent)
            if rules_hold
            else boundary.rejects_exempt(url, depth, parent)
        )
        return rule or closed or self._traps.rejects(url, site)

    def holds_for_good(self, rule: str) -> bool:
        """Tell whether a URL that a rule keeps out is kept out in the whole run, however it is found."""
        return rule not in FOR_A_WHILE and not self._boundary.depends_on_route(rule)
