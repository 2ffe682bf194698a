"""A URL that may be queued, and the interface of the stages that accept or reject it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ultracrawl.model.decision import Decision
from ultracrawl.model.page import LinkKind


class TrapCounts(NamedTuple):
    """Numbers of known URLs, for the detection of crawler traps; None if not counted."""

    site_urls: int | None = None
    """URLs of the same site."""
    path_queries: int | None = None
    """URLs with the same path and another query."""


class ExceededLimit(NamedTuple):
    """A limit of a source that was exceeded when a new URL was judged."""

    name: str
    """The option, such as `limits.documents`."""
    limit: float
    value: float
    """The counted value."""

    def __str__(self) -> str:
        return f"{self.name} {self.limit:g} is reached: {self.value:.6g}"


class Candidate(NamedTuple):
    """A canonical URL with everything that stages judge it by: how it was found, and counts at that time.

    Candidate logs store the fields by name.
    """

    url: str
    depth: int = 0
    """Link steps from a start URL."""
    kind: LinkKind = LinkKind.A
    parent: str = ""
    """The URL of the page or redirect that it was found in; empty for none."""
    seed: bool = False
    known: bool = False
    """Whether the source knows the URL already; checks of new URLs do not apply to it."""
    rules_hold: bool = True
    """Whether rules about domains, ports, paths and URIs apply; False for entries of feeds that ignore them.

    The limit to the ports of start URLs applies anyway.
    """
    hop: bool = False
    """Whether it is the target of a temporary redirect, which only the stages for scheme, ports (those of start
    URLs) and redirects judge."""
    closed: str = ""
    """The rule that rejects all new URLs at the time; empty for none."""
    counts: TrapCounts = TrapCounts()
    trap: str = ""
    """The pattern of URLs without new content that it belongs to, and that is bounded; empty for none."""
    slowed_by: str = ""
    """The pattern that may be one, because of which it waits for the others of its site; empty for none."""
    over: tuple[ExceededLimit, ...] = ()
    """The exceeded limits that close the source to new URLs."""

    @property
    def counters(self) -> dict[str, float]:
        """The counts by name: `site_urls`, `path_queries`, and the exceeded limits."""
        counts = {name: value for name, value in self.counts._asdict().items() if value is not None}
        return counts | {limit.name: limit.value for limit in self.over}


class Stage(Protocol):
    """A check of candidates."""

    name: str
    """The stage of its decisions."""

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return whether the candidate passes, and why; None if the check does not apply to it."""
