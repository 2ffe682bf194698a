"""The stages of a source in their order, spelled out and compiled."""

from __future__ import annotations

from collections.abc import Iterator

from ultracrawl.model import Decision
from ultracrawl.model.candidate import Candidate, Stage
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.candidates.stages import FOR_A_WHILE, ClosedStage, QueryStage, SiteSizeStage
from ultracrawl.rules.candidates.traps import TrapGuard


class CandidateRules:
    """What decides over a link that has a URL: boundary, what keeps new URLs out, guards against endless sites.

    `traps` counts what is let in; without it nothing is counted.
    """

    def __init__(self, boundary: Boundary, traps: TrapGuard | None = None) -> None:
        self._boundary = boundary
        self._traps = traps or TrapGuard(None, None, {})
        self.stages: tuple[Stage, ...] = (
            *boundary.stages,
            ClosedStage(),
            QueryStage(self._traps.variations),
            SiteSizeStage(self._traps.per_site),
        )
        """The list; the first refusal counts."""

    def candidate(
        self, url: str, depth: int, parent: str, site: str, closed: str = "", *, rules_hold: bool = True
    ) -> Candidate:
        """Return a new URL as it is found now, with what is counted now."""
        counts = self._traps.counts_of(url, site)
        return Candidate(url, depth, parent=parent, rules_hold=rules_hold, closed=closed, counts=counts)

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
            else boundary.rejects_anyway(url, depth, parent)
        )
        return rule or closed or self._traps.rejects(url, site)

    def holds_for_good(self, rule: str) -> bool:
        """Tell whether a URL that a rule keeps out is kept out in the whole run, however it is found."""
        return rule not in FOR_A_WHILE and not self._boundary.depends_on_route(rule)
