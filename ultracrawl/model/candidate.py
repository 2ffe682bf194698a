"""A URL that may be crawled, on its way through the stages that judge it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ultracrawl.model.decision import Decision
from ultracrawl.model.page import LinkKind


class TrapCounts(NamedTuple):
    """How much of a site is known when a new URL of it is judged."""

    site_urls: int
    """URLs of its site."""
    path_queries: int
    """URLs with its path and another query."""


class Candidate(NamedTuple):
    """A canonical URL, how it was found, and what was counted then: all that a stage judges by."""

    url: str
    depth: int = 0
    """Link steps from a start URL."""
    kind: LinkKind = LinkKind.A
    parent: str = ""
    """The URL of the page (or redirect) that it was found in; empty for none."""
    seed: bool = False
    known: bool = False
    """Whether the source knows the URL already: what is about new URLs alone does not concern it."""
    rules_hold: bool = True
    """Whether rules about domains, ports, paths and URIs hold for it; not for entries of feeds that ignore them."""
    closed: str = ""
    """The rule that keeps all new URLs out when it is found; empty for none."""
    counts: TrapCounts | None = None
    """What was counted; None where nothing is."""


class Stage(Protocol):
    """One stage that a candidate meets."""

    name: str
    """What its decisions say as their stage."""

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return whether a candidate passes, and why; None if the stage does not concern it."""
