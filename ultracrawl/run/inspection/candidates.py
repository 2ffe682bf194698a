"""Applies the list of stages to a URL, with the current counters or with those of a past run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.model import Decision, UrlRecord
from ultracrawl.model.candidate import Candidate, ExceededLimit
from ultracrawl.rules.candidates.rules import CandidateRules, TrapGuard
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.run.control.limits import limits_over
from ultracrawl.run.discovery.new_urls import closing_rule, trap_guard
from ultracrawl.run.discovery.start_chain import admit_redirect_hosts
from ultracrawl.run.logs.candidate_logs import JudgedCandidate, candidates_path, read_candidates
from ultracrawl.run.traps.recognition import remembered_traps
from ultracrawl.sources import CompiledSource, DataSource, Project
from ultracrawl.stores import Store
from ultracrawl.stores.project_stores import state_to_read


class CandidateJudge(NamedTuple):
    """The stages of a source and the counters with which a new URL would be judged now."""

    rules: CandidateRules
    seeds: frozenset[str]
    closed: str
    """The rule that excludes all new URLs now; empty for none."""
    over: tuple[ExceededLimit, ...] = ()

    def candidate(self, url: str, record: UrlRecord | None = None) -> Candidate:
        """Return the candidate for a link to a URL; `record` is its URL record, if it is known."""
        candidate = self.rules.candidate(url, record.depth if record else 0, "", site_of(url), self.closed)
        if record is not None and record.last_fetched:  # no pattern keeps it from being requested
            candidate = candidate._replace(trap="", slowed_by="")
        return candidate._replace(seed=url in self.seeds, known=record is not None, over=self.over)


def judge_now(
    project: Project, source: DataSource, rules: CompiledSource, state: Store | None
) -> CandidateJudge:
    """Return the stages with the counters of the store; without a store, those of a first run."""
    limits, seeds = source.limits, frozenset(rules.seeds)
    if state is None:
        stages = CandidateRules(rules.boundary, TrapGuard(rules.traps, {}))
        return CandidateJudge(stages, seeds, closing_rule(rules, refresh_only=False))
    admit_redirect_hosts(source, rules, state)
    over = limits_over(limits, state, project.state.path)
    stages = CandidateRules(
        rules.boundary, trap_guard(rules, state, remembered_traps(project, source.name, rules))
    )
    return CandidateJudge(stages, seeds, closing_rule(rules, refresh_only=bool(over)), over)


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """The decision of a run on a URL, and the decisions of the current stages with the counters of that run."""

    judged: JudgedCandidate
    decisions: tuple[Decision, ...]

    @property
    def refusal(self) -> Decision | None:
        """The decision that excludes the URL now; None if it is admitted."""
        return next((decision for decision in self.decisions if not decision.accept), None)

    @property
    def same(self) -> bool:
        """Whether the current definition gives the same decision by the same rule."""
        return (self.refusal.rule if self.refusal else "") == self.judged.rule

    def as_json(self) -> dict[str, Any]:
        """Return the verdict in the shape of `explain --as-of-run --json`."""
        judged, refusal = self.judged, self.refusal
        candidate = judged.candidate
        return {
            "time": judged.time,
            "parent": candidate.parent or None,
            "kind": candidate.kind.option if candidate.parent else None,
            "depth": candidate.depth,
            "accept": not judged.rule,
            "stage": judged.stage or None,
            "rule": judged.rule or None,
            "counters": candidate.counters,
            "same_now": self.same,
            "stage_now": refusal.stage if refusal else None,
            "rule_now": refusal.rule if refusal else None,
        }


def past_verdicts(
    project: Project, source: DataSource, rules: CompiledSource, run: int, urls: set[str]
) -> list[PastVerdict]:
    """Return the decisions of a run on a URL, given in all its forms, in order; the last one counts.

    Raises `UserError` if they are not on record.
    """
    latest = 0
    with state_to_read(project, source.name) as state:
        if state is not None:
            latest = next((mark.number for mark in state.runs(1)), 0)
            admit_redirect_hosts(source, rules, state)
    if not 1 <= run <= latest:
        had = f"its latest run is {latest}" if latest else "it was never crawled"
        raise UserError(f"{source.name} had no run {run}; {had}")
    path = candidates_path(project, source.name)
    logged = read_candidates(path, run, urls)
    if logged is None:
        raise UserError(
            f"run {run} of {source.name} has no candidate log in {path}; "
            "`log: {candidates: true}` in the definition writes one in further runs"
        )
    if not logged.candidates:
        lost = "" if logged.is_whole else "; a part of its log is lost (`logs.size` bounds it)"
        raise UserError(
            f"run {run} of {source.name} did not judge this URL: it was not found, or was known already{lost}"
        )
    return list(verdicts_on_record(rules, logged.candidates))


def verdicts_on_record(rules: CompiledSource, judged: Iterable[JudgedCandidate]) -> Iterator[PastVerdict]:
    """Return the decisions of the current stages on candidates of a past run, with its counters."""
    stages = CandidateRules(rules.boundary, TrapGuard(rules.traps, {}))
    return (PastVerdict(entry, tuple(stages.decisions(entry.candidate))) for entry in judged)
