"""A URL that may be crawled, on its way through the stages that judge it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ultracrawl.model.decision import Decision
from ultracrawl.model.page import LinkKind


class TrapCounts(NamedTuple):
    """How much of a site is known when a new URL of it is judged; None where that is not counted."""

    site_urls: int | None = None
    """URLs of its site."""
    path_queries: int | None = None
    """URLs with its path and another query."""


class LimitOver(NamedTuple):
    """A limit of a source that was over when a new URL was judged."""

    name: str
    """The option, as `limits.documents`."""
    limit: float
    value: float
    """What was counted."""

    def __str__(self) -> str:
        return f"{self.name} {self.limit:g} is passed with {self.value:.6g}"


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
    hop: bool = False
    """Whether a temporary redirect leads to it, of which only scheme and way are judged."""
    closed: str = ""
    """The rule that keeps all new URLs out when it is found; empty for none."""
    counts: TrapCounts = TrapCounts()
    over: tuple[LimitOver, ...] = ()
    """The limits that close the source to new URLs."""

    @property
    def counters(self) -> dict[str, float]:
        """What was counted, by name: `site_urls`, `path_queries`, and the limits that close the source."""
        counts = {name: value for name, value in self.counts._asdict().items() if value is not None}
        return counts | {one.name: one.value for one in self.over}


class Stage(Protocol):
    """One stage that a candidate meets."""

    name: str
    """What its decisions say as their stage."""

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return whether a candidate passes, and why; None if the stage does not concern it."""
