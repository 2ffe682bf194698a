"""What the list of stages says of a URL: with what is counted now, or with what a past run counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ultracrawl.crawl.discovery.new_urls import closing_rule, trap_guard
from ultracrawl.crawl.logs.candidate_logs import JudgedCandidate, candidates_path, read_candidates
from ultracrawl.crawl.run.limits import limits_over
from ultracrawl.crawl.run.start_chain import admit_redirect_hosts
from ultracrawl.errors import UserError
from ultracrawl.model import Decision, UrlRecord
from ultracrawl.model.candidate import Candidate, ExceededLimit
from ultracrawl.rules.candidates.rules import CandidateRules, TrapGuard
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.sources import CompiledSource, DataSource, Project
from ultracrawl.stores import Store
from ultracrawl.stores.opening import state_to_read


class CandidateJudge(NamedTuple):
    """The stages of a source, and how a URL would be found now."""

    rules: CandidateRules
    seeds: frozenset[str]
    closed: str
    """The rule that keeps all new URLs out now, empty for none."""
    over: tuple[ExceededLimit, ...] = ()

    def candidate(self, url: str, record: UrlRecord | None = None) -> Candidate:
        """Return a URL as a link to it would be judged now; `record` is what is known of it."""
        found = self.rules.candidate(url, record.depth if record else 0, "", site_of(url), self.closed)
        return found._replace(seed=url in self.seeds, known=record is not None, over=self.over)


def judge_now(
    project: Project, source: DataSource, rules: CompiledSource, state: Store | None
) -> CandidateJudge:
    """Return the stages with what is counted in the state now; without a state, as a first run begins."""
    limits, seeds = source.limits, frozenset(rules.seeds)
    if state is None:
        guard = TrapGuard(limits.urls_per_site, limits.query_variations, {})
        return CandidateJudge(
            CandidateRules(rules.boundary, guard), seeds, closing_rule(rules, refresh_only=False)
        )
    admit_redirect_hosts(source, rules, state)
    over = limits_over(limits, state, project.state.path)
    stages = CandidateRules(rules.boundary, trap_guard(limits, state))
    return CandidateJudge(stages, seeds, closing_rule(rules, refresh_only=bool(over)), over)


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """What a run decided about a URL, and what the stages make now of what was counted then."""

    judged: JudgedCandidate
    decisions: tuple[Decision, ...]

    @property
    def refusal(self) -> Decision | None:
        """What excludes it now, None if nothing does."""
        return next((one for one in self.decisions if not one.accept), None)

    @property
    def same(self) -> bool:
        """Whether the definition as it is now gives the verdict of the run, by the same rule."""
        return (self.refusal.rule if self.refusal else "") == self.judged.rule

    def as_json(self) -> dict[str, Any]:
        """Return the verdict in the shape of `explain --as-of-run --json`."""
        judged, refusal = self.judged, self.refusal
        candidate = judged.candidate
        return {
            "time": judged.time,
            "parent": candidate.parent or None,
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
    """Return how a run judged a URL (in any of its forms), in its order; the last verdict counts.

    Raises `UserError` if that is not on record.
    """
    latest = 0
    with state_to_read(project, source.name) as state:
        if state is not None:
            latest = next((one.number for one in state.runs(1)), 0)
            admit_redirect_hosts(source, rules, state)
    if not 1 <= run <= latest:
        had = f"its latest run is {latest}" if latest else "it was never crawled"
        raise UserError(f"{source.name} had no run {run}; {had}")
    path = candidates_path(project, source.name)
    record = read_candidates(path, run, urls)
    if record is None:
        raise UserError(
            f"run {run} of {source.name} left no log of candidates in {path}; "
            "`log: {candidates: true}` in the definition has further runs keep one"
        )
    if not record.candidates:
        lost = "" if record.is_whole else "; a part of its log is lost (`logs.size` bounds it)"
        raise UserError(
            f"run {run} of {source.name} judged no such URL: it was not found, or was known already{lost}"
        )
    return list(verdicts_on_record(source, rules, record.candidates))


def verdicts_on_record(
    source: DataSource, rules: CompiledSource, judged: Iterable[JudgedCandidate]
) -> Iterator[PastVerdict]:
    """Return what the stages make now of what was judged and counted in a run."""
    guard = TrapGuard(source.limits.urls_per_site, source.limits.query_variations, {})
    stages = CandidateRules(rules.boundary, guard)
    return (PastVerdict(one, tuple(stages.decisions(one.candidate))) for one in judged)
