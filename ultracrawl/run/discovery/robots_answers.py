"""Stored responses for robots.txt and tdmrep.json: sources with the same client identity share all but failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.sources import CompiledSource
    from ultracrawl.stores import SiteStore, StoredRobots


def latest_answer(sites: SiteStore, rules: CompiledSource, origin: str) -> StoredRobots | None:
    """Return the newest stored response of an origin, of this source or one with the same client identity.

    For a tdmrep.json, `origin` is its URL.
    """
    stored = (sites.get_robots(origin, key) for key in {rules.client_identity, unshared_key(rules)})
    return max(filter(None, stored), key=lambda row: max(row.received, row.failed), default=None)


def keep_answer(sites: SiteStore, rules: CompiledSource, row: StoredRobots) -> None:
    """Store a response for this source and, unless it failed, for those with the same client identity.

    A failure is stored for this source alone, which may have its own reasons: time-outs, networks that it may not
    reach.
    """
    sites.put_robots(row, unshared_key(rules))
    if row.status and not row.failed and rules.client_identity != unshared_key(rules):
        sites.put_robots(row, rules.client_identity)


def unshared_key(rules: CompiledSource) -> str:
    """Return the key under which responses are stored for one source only."""
    return f"source {rules.name}"
