"""Answers for robots.txt that are kept: shared by sources that servers cannot tell apart, failures by nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.sources import CompiledSource
    from ultracrawl.stores import SiteStore, StoredRobots


def latest_answer(sites: SiteStore, rules: CompiledSource, origin: str) -> StoredRobots | None:
    """Return the last answer of an origin that a source got, or another one that shows the same of itself."""
    found = (sites.get_robots(origin, shown) for shown in {rules.client_identity, asked_alone(rules)})
    return max(filter(None, found), key=lambda row: max(row.asked, row.failed), default=None)


def keep_answer(sites: SiteStore, rules: CompiledSource, row: StoredRobots) -> None:
    """Keep an answer for this source and, unless it was asked for in vain, for those that show the same of themselves.

    A failure is of this source alone, which may have its own reasons: time-outs, networks that it may not reach.
    """
    sites.put_robots(row, asked_alone(rules))
    if row.status and not row.failed and rules.client_identity != asked_alone(rules):
        sites.put_robots(row, rules.client_identity)


def asked_alone(rules: CompiledSource) -> str:
    """Return what stands for a source where its answers are nobody else's."""
    return f"source {rules.name}"
