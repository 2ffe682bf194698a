"""The stages of a source in their order: the boundary, and the rules that reject new URLs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ultracrawl.dataclass import dataclass
from ultracrawl.model import Decision
from ultracrawl.model.candidate import Candidate, Stage, TrapCounts
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.focus import FOCUSED
from ultracrawl.rules.candidates.traps import TrapPatterns
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.rules.urls.site_table import NO_SITES, SiteTable

INDEX_ONLY = "crawling_mode index-only"
"""The rule that rejects links to unknown URLs."""
REFRESH_ONLY = "refresh_only"
"""The rule that rejects URLs that were never fetched, while the source or the disk is too full."""
TEMPORARY_RULES = frozenset({FOCUSED, REFRESH_ONLY})
"""Rules that may admit a URL later in the same run, or from another page."""


def query_rule(limit: int) -> str:
    """Return the rule that rejects further queries of a path."""
    return f"limits.query_variations {limit}"


def site_rule(limit: int) -> str:
    """Return the rule that rejects further URLs of a site."""
    return f"limits.urls_per_site {limit}"


def pattern_rule(limit: int, pattern: str) -> str:
    """Return the rule that rejects further URLs of a pattern without new content."""
    return f"limits.trap_pages {limit}: {pattern}"


class ClosedStage:
    """Rejects new URLs because of the crawling mode, a limit of the run, or the language of the page."""

    name = "new"

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the refusal of a new URL; None for known URLs, seeds, and while new URLs are accepted."""
        if candidate.known or candidate.seed or not candidate.closed:
            return None
        return Decision(False, self.name, candidate.closed, "only known URLs are requested")


class TrapStage:
    """Rejects new URLs when a count reaches its limit (`limits.query_variations`, `limits.urls_per_site`)."""

    name = "limit"

    def __init__(
        self, counter: str, counted: str, limit_at: Callable[[str], int | None], rule: Callable[[int], str]
    ) -> None:
        """`counter` is a field of `TrapCounts`, `counted` the text for it in the reason; `limit_at` is by URL."""
        self._counter, self._counted = counter, counted
        self._limit_at, self._rule = limit_at, rule

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the refusal of a new URL if the limit is reached, else None."""
        number: int | None = getattr(candidate.counts, self._counter)
        if number is None or candidate.known or candidate.seed:
            return None
        limit = self._limit_at(candidate.url)
        if not limit or number < limit:
            return None
        reason = f"{number} {self._counted} are known; {limit} are allowed"
        return Decision(False, self.name, self._rule(limit), reason)


class PatternStage:
    """Rejects new URLs of a pattern whose pages brought nothing new (`limits.trap_pages`)."""

    name = "limit"

    def __init__(self, limits: TrapLimits) -> None:
        self._limits = limits

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return the refusal of a URL that was never fetched, or why it waits; None if no pattern matters."""
        pattern = candidate.trap or candidate.slowed_by
        if not pattern or candidate.seed:
            return None
        limits = self._limits.at(site_of(candidate.url))
        if not limits.trap_pages or pattern in limits.traps_allowed:
            return None
        rule = pattern_rule(limits.trap_pages, pattern)
        if candidate.trap:
            reason = (
                f"{limits.trap_pages} pages of this pattern brought nothing new; "
                "`limits.traps_allowed` allows it"
            )
            return Decision(False, self.name, rule, reason)
        return Decision(
            True,
            self.name,
            rule,
            "pages of this pattern bring nothing new: it waits for the others of its site",
        )


MAX_PATHS = 50_000
"""Maximum number of paths whose queries are counted."""


class SiteLimits(NamedTuple):
    """How many URLs of a site, and queries of each of its paths, may be known; None: any number, or no traps."""

    per_site: int | None = None
    variations: int | None = None
    trap_pages: int | None = None
    """Pages without new content after which a pattern is a trap."""
    traps_allowed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TrapLimits:
    """The limits of a source, and those of single sites."""

    usual: SiteLimits
    overlays: SiteTable[SiteLimits] = NO_SITES

    def at(self, site: str) -> SiteLimits:
        """Return the limits of a site."""
        return (self.overlays.find(site) or self.usual) if self.overlays else self.usual

    def per_site(self, url: str) -> int | None:
        """Return the maximum number of URLs of the site of a URL."""
        return self._at_url(url).per_site

    def variations(self, url: str) -> int | None:
        """Return the maximum number of queries of the path of a URL."""
        return self._at_url(url).variations

    def _at_url(self, url: str) -> SiteLimits:
        return self.at(site_of(url)) if self.overlays else self.usual

    @property
    def any(self) -> SiteLimits:
        """A limit of each kind that is set for some site; None if none is."""
        every = (self.usual, *self.overlays.values.values())
        limits = (next(filter(None, kind), None) for kind in zip(*every, strict=True))
        return SiteLimits(*limits)  # type: ignore[arg-type]  # the fields in their order

    @property
    def allowed(self) -> frozenset[str]:
        """The patterns that are no traps, of all sites: each names its own."""
        return frozenset().union(*(one.traps_allowed for one in (self.usual, *self.overlays.values.values())))


class TrapGuard:
    """Limits sites that generate URLs without end: calendars, filter combinations, session ids (FAST 5.1 B9, B11).

    Counts the URLs of each site and the queries of each path. Only unknown URLs are counted, so repeated links cost
    nothing. `known` and `queries` are the counts of earlier runs: limits apply to all runs together.
    `max_paths` bounds the memory: when it is reached, only paths at their limit are kept, and counting of the
    others restarts.
    """

    def __init__(
        self,
        limits: TrapLimits,
        known: Mapping[str, int],
        queries: Mapping[str, int] | None = None,
        patterns: TrapPatterns | None = None,
        max_paths: int = MAX_PATHS,
    ) -> None:
        self.limits = limits
        self.patterns = patterns or TrapPatterns()
        self._sites = dict(known)
        self._queries = dict(queries or {})
        self._max_paths = max_paths

    def counts_of(self, url: str, site: str) -> TrapCounts:
        """Return the current counts for a URL."""
        per_site, variations, *_ = self.limits.at(site)
        return TrapCounts(
            self._sites.get(site, 0) if per_site else None,
            self._queries.get(url.partition("?")[0], 0) if variations and "?" in url else None,
        )

    def rejects(self, url: str, site: str, parent: str = "") -> str | None:
        """Return the rule that rejects a new URL inside the boundary, or count it and return None."""
        per_site, variations, trap_pages, _ = self.limits.at(site)
        if trap_pages and (pattern := self.patterns.bounding(url)):
            return pattern_rule(trap_pages, pattern)
        path = url.partition("?")[0] if variations and "?" in url else None
        if path is not None and variations and self._queries.get(path, 0) >= variations:
            return query_rule(variations)
        if per_site:
            number = self._sites.get(site, 0)
            if number >= per_site:
                return site_rule(per_site)
            self._sites[site] = number + 1
        if path is not None:
            self._count_query(path)
        self.patterns.note_link(url, site, parent)
        return None

    def _count_query(self, path: str) -> None:
        if path not in self._queries and len(self._queries) >= self._max_paths:
            full = {
                path: number
                for path, number in self._queries.items()
                if number >= (self.limits.variations(path) or 0)
            }
            self._queries = full if len(full) < self._max_paths // 2 else {}
        self._queries[path] = self._queries.get(path, 0) + 1


class CandidateRules:
    """Decides whether the URL of a link is queued: boundary, rejection of new URLs, protection from traps.

    `traps` counts admitted URLs; without it nothing is counted.
    """

    def __init__(self, boundary: Boundary, traps: TrapGuard | None = None) -> None:
        self.boundary = boundary
        self._traps = traps or TrapGuard(TrapLimits(SiteLimits()), {})
        limits = self._traps.limits
        self.stages: tuple[Stage, ...] = (
            *boundary.stages,
            ClosedStage(),
            PatternStage(limits),
            TrapStage("path_queries", "URLs of its path with another query", limits.variations, query_rule),
            TrapStage("site_urls", "URLs of its site", limits.per_site, site_rule),
        )
        """In their order; the first refusal decides."""

    def candidate(
        self, url: str, depth: int, parent: str, site: str, closed: str = "", *, rules_hold: bool = True
    ) -> Candidate:
        """Return the candidate of a new URL with the current counts."""
        counts, patterns = self._traps.counts_of(url, site), self._traps.patterns
        return Candidate(
            url,
            depth,
            parent=parent,
            rules_hold=rules_hold,
            closed=closed,
            counts=counts,
            trap=patterns.bounding(url),
            slowed_by=patterns.slowing(url),
        )

    def known_rejects(self, known: Candidate) -> str | None:
        """Return the rule that rejects a known URL or a start URL; these are not counted."""
        if known.rules_hold:
            return self.boundary.rejects(known.url, known.depth, seed=known.seed)
        return self.boundary.rejects_exempt(known.url, known.depth)

    def decisions(self, candidate: Candidate) -> Iterator[Decision]:
        """Yield the decisions of all stages that apply to a candidate, in order, including those after a refusal."""
        decisions = (stage.judge(candidate) for stage in self.stages)
        return (decision for decision in decisions if decision is not None)

    def refusal(self, candidate: Candidate) -> Decision | None:
        """Return the first refusal of a candidate, None if it is admitted."""
        return next((decision for decision in self.decisions(candidate) if not decision.accept), None)

    def rejects(
        self, url: str, depth: int, parent: str, site: str, closed: str = "", *, rules_hold: bool = True
    ) -> str | None:
        """Return the rule that rejects a new URL, or count it and return None; the hot path.

        Equal to the rule of `refusal`, but makes no `Decision`; a test compares both.
        """
        boundary = self.boundary
        rule = (
            boundary.rejects(url, depth, parent=parent)
            if rules_hold
            else boundary.rejects_exempt(url, depth, parent)
        )
        return rule or closed or self._traps.rejects(url, site, parent)

    def holds_for_good(self, rule: str) -> bool:
        """Return whether a rule rejects a URL for the whole run, however it is found."""
        return rule not in TEMPORARY_RULES and not self.boundary.depends_on_route(rule)
