"""The stages of a boundary, spelled out: each answers for itself, also behind a refusal of another."""

from __future__ import annotations

from collections.abc import Callable

from ultracrawl.model import Decision
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary.site import Site

RULE_STAGES = frozenset({"domain", "port", "path", "uri", "area"})
"""Stages that ask what is said about hosts and URLs, beside schemes, extensions, depth and the way there."""


class BoundaryStage:
    """One stage of a boundary: what the rules of its name say of a URL of a site."""

    __slots__ = ("_answer", "_site_of", "name")

    def __init__(
        self,
        name: str,
        site_of: Callable[[str], Site],
        answer: Callable[[Site, Candidate], Decision | None],
    ) -> None:
        self.name = name
        self._site_of = site_of
        self._answer = answer

    def judge(self, candidate: Candidate) -> Decision | None:
        """Return whether a candidate is inside as far as this stage goes; None if it does not concern it."""
        if not candidate.rules_hold and self.name in RULE_STAGES:
            return None
        return self._answer(self._site_of(candidate.url), candidate)


def boundary_answer(stage: str, refusal: str | None, acceptance: str) -> Decision:
    """Return the decision of a stage that refuses by a rule, or accepts by another."""
    if refusal is not None:
        return Decision(False, stage, refusal, f"outside the boundary ({stage})")
    return Decision(True, stage, acceptance, "passes")
