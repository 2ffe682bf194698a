"""Frontiers for tests, by the options that a test is about."""

from __future__ import annotations

from typing import Any

from ultracrawl.rules.frontier.frontier import Frontier, FrontierLimits
from ultracrawl.rules.frontier.politeness.pace import Pace

_LIMITS = ("capacity", "slow", "max_sites", "max_inter_docs")


def made_frontier(
    pace: Pace | None = None, *, delay: float = 0.0, concurrency: int = 2, **options: Any
) -> Frontier[Any]:
    """Return a frontier: `delay` and `concurrency` make its pace, limits may stand among the other options."""
    limits = FrontierLimits(**{name: options.pop(name) for name in _LIMITS if name in options})
    return Frontier(pace or Pace(delay, concurrency), limits, **options)


def delay_of(frontier: Frontier[Any], name: str) -> float:
    """Return the seconds between the starts of two requests to a site."""
    site, own = frontier.site(name), frontier.own_delay(name)
    if site is not None:
        return frontier.pace.current_delay(site.clock, 0.0)
    return frontier.pace.delay if own is None else own
