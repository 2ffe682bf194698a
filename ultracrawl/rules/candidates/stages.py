"""Stages that keep new URLs out although they are inside the boundary."""

from __future__ import annotations

from ultracrawl.model import Decision
from ultracrawl.model.candidate import Candidate
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


class QueryStage:
    """At most so many new URLs differ only in their query (`limits.query_variations`)."""

    name = "limit"

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._rule = query_rule(most)

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the refusal of another query of a path; None as long as there are fewer, and for known URLs."""
        counts = candidate.counts
        if not self._most or counts is None or candidate.known or candidate.seed or "?" not in candidate.url:
            return None
        if counts.path_queries < self._most:
            return None
        told = f"{counts.path_queries} URLs of its path with another query are known"
        return Decision(False, self.name, self._rule, f"{told}; {self._most} are allowed")


class SiteSizeStage:
    """At most so many URLs of a site are known (`limits.urls_per_site`)."""

    name = "limit"

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._rule = site_rule(most)

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the refusal of another URL of a site; None as long as there are fewer, and for known URLs."""
        counts = candidate.counts
        if not self._most or counts is None or candidate.known or candidate.seed:
            return None
        if counts.site_urls < self._most:
            return None
        told = f"{counts.site_urls} URLs of its site are known; {self._most} are allowed"
        return Decision(False, self.name, self._rule, told)
