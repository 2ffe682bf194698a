"""Rules that exclude new URLs regardless of the boundary: trap guard, and rules that close a source."""

from __future__ import annotations

from ultracrawl.rules.candidates.rules import INDEX_ONLY, MAX_PATHS, REFRESH_ONLY, TrapGuard
from ultracrawl.rules.candidates.traps import TrapPatterns
from ultracrawl.sources import CompiledSource
from ultracrawl.stores import Store


def trap_guard(rules: CompiledSource, store: Store, patterns: TrapPatterns | None = None) -> TrapGuard:
    """Return the guard against endless sites, initialised with the counts of known URLs, and `patterns` of traps."""
    limits, sizes = rules.traps, dict[str, int]()
    if limits.any.per_site:
        sizes = {site: size.fetched + size.new for site, size in store.visits.site_sizes().items()}
    queries = store.visits.path_sizes(MAX_PATHS // 2) if limits.any.variations else {}
    return TrapGuard(limits, sizes, queries, patterns)


def closing_rule(rules: CompiledSource, *, refresh_only: bool) -> str:
    """Return the rule that excludes all new URLs, empty for none."""
    if not rules.follows_links:
        return INDEX_ONLY
    return REFRESH_ONLY if refresh_only else ""
