"""Explains why a URL is crawled or not, by the current rules or by the decisions of a past run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from ultracrawl.dataclass import dataclass
from ultracrawl.model import Decision, UrlOutcome, UrlRecord
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.boundary.rewriting.rewriter import apply_rewriter
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.discovery.robots_answers import latest_answer
from ultracrawl.run.inspection.candidates import PastVerdict, judge_now, past_verdicts
from ultracrawl.run.inspection.later_stages import later_stages
from ultracrawl.run.rewriters import opened_rewriter
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source
from ultracrawl.sources.kinds import find_kind
from ultracrawl.stores import StoredRobots
from ultracrawl.stores.project_stores import open_sites, state_to_read

NO_CANDIDATE = Candidate("")
_UNLISTED = Decision(
    False, "listing", "type", "the source lists its documents itself, and has not listed this one"
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decisions of the rules of one source on a URL, and its URL record."""

    url: str
    canonical_url: str
    source: str
    decisions: tuple[Decision, ...]
    record: UrlRecord | None
    display_url: str = ""
    """The display URL of a new link."""
    duplicates: tuple[UrlRecord, ...] = ()
    """Other URLs with the same content, the indexed one first."""
    candidate: Candidate = NO_CANDIDATE
    """The candidate for a link to the URL."""
    linked_from: tuple[str, ...] | None = None
    """The pages that link to the URL, if that is not found on its server; None if it is not looked for them."""

    @property
    def accept(self) -> bool:
        """Whether no rule excludes the URL."""
        return all(decision.accept for decision in self.decisions)

    def as_json(self) -> dict[str, Any]:
        """Return the explanation in the shape of `explain --json`."""
        return {
            "url": self.url,
            "canonical_url": self.canonical_url or None,
            "display_url": self.display_url or None,
            "source": self.source,
            "accept": self.accept,
            "decisions": [decision.as_json() for decision in self.decisions],
            "record": self.record.as_json() if self.record else None,
            "counters": self.candidate.counters,
            "duplicates": [{"url": record.url, "indexed": record.indexed} for record in self.duplicates],
            "linked_from": None if self.linked_from is None else [*self.linked_from],
        }


def explain(project: Project, source: DataSource, url: str, *, dns: bool = False) -> Explanation:
    """Apply the rules of a source to a URL as to a link. Raises `UserError`, `WorkError`."""
    with _resolved(project, source, _listed_url(project, source, url)) as (rules, link):
        if not link.access_url:
            return Explanation(url, "", source.name, tuple(link.decisions), None)
        known = _known(project, source, rules, link.access_url)
        record = known.record
        later = later_stages(source, rules, link.access_url, record, known.robots, dns=dns)
        stages, shown = (*link.decisions, *known.decisions, *later), link.display_url
        if rules.listed:
            stages = stages if record else (*stages, _UNLISTED)
            shown = record.shown_url if record else shown
        return Explanation(
            url,
            link.access_url,
            source.name,
            stages,
            record,
            shown,
            known.duplicates,
            known.candidate,
            _linked_from(project, source, record),
        )


def _linked_from(project: Project, source: DataSource, record: UrlRecord | None) -> tuple[str, ...] | None:
    if record is None or record.outcome is not UrlOutcome.GONE:
        return None
    from ultracrawl.run.inspection.broken_links import broken_links  # noqa: PLC0415 - few URLs are not found

    with state_to_read(project, source.name) as state:
        return tuple(broken_links(state, [record])[record.url]) if state else ()


def _listed_url(project: Project, source: DataSource, url: str) -> str:
    """Return the access URL of the document of a listed source with this display URL; else the URL."""
    if find_kind(source.type) is None:
        return url
    with state_to_read(project, source.name) as state:
        shown = [] if state is None else state.records.with_display_url(url)
    return shown[0].url if shown else url


class _Link(NamedTuple):
    """Access and display URL of a link, and the decisions of canonicalisation and rewriter."""

    decisions: list[Decision]
    access_url: str = ""
    display_url: str = ""


@contextmanager
def _resolved(project: Project, source: DataSource, url: str) -> Iterator[tuple[CompiledSource, _Link]]:
    """Yield the rules of a source and the URLs of a link by them."""
    with closing(HostAddresses()) as hosts:
        rules = compile_source(source, project, hosts)
        with opened_rewriter(source) as rewriter:
            link = _resolve(rules, rewriter, url)
        yield rules, link


def _resolve(rules: CompiledSource, rewriter: UrlRewriter | None, url: str) -> _Link:
    canonical = rules.url_policy.canonicalise(url)
    steps = (Decision(True, "url", f"normalise {step}", to) for step, to in rules.url_policy.normalising(url))
    decisions = [canonical.decision, *steps]
    if not canonical.url or rewriter is None:
        return _Link(decisions, canonical.url or "", canonical.url or "")
    if canonical.url in rules.seeds:
        not_rewritten = Decision(True, "rewrite", "url rewriter", "start URLs are not rewritten")
        return _Link([*decisions, not_rewritten], canonical.url, canonical.url)
    result = apply_rewriter(rewriter, canonical.url, rules.url_policy.without_rewriting)
    return _Link([*decisions, result.decision], result.access_url, result.display_url)


class _Known(NamedTuple):
    """The decisions of the stages on a URL, and its record, robots.txt and duplicates from the stores."""

    candidate: Candidate
    decisions: tuple[Decision, ...]
    record: UrlRecord | None = None
    robots: StoredRobots | None = None
    duplicates: tuple[UrlRecord, ...] = ()


def _known(project: Project, source: DataSource, rules: CompiledSource, url: str) -> _Known:
    with state_to_read(project, source.name) as state:
        judge = judge_now(project, source, rules, state)
        record = state.records.get_record(url_key(url)) if state is not None else None
        candidate = judge.candidate(url, record)
        decisions = tuple(judge.rules.decisions(candidate))
        if state is None:
            return _Known(candidate, decisions)
        twins = state.records.with_fingerprint(record.fingerprint) if record else []
        others = (twin for twin in twins if twin.url != url)
        duplicates = tuple(sorted(others, key=lambda twin: (not twin.indexed, twin.url)))
        with closing(open_sites(project, read_only=True)) as sites:
            robots = latest_answer(sites, rules, origin_of(url))
        return _Known(candidate, decisions, record, robots, duplicates)


@dataclass(frozen=True, slots=True)
class PastExplanation:
    """All decisions of a run on a URL."""

    url: str
    canonical_url: str
    source: str
    run: int
    verdicts: list[PastVerdict]

    @property
    def accept(self) -> bool:
        """Whether the run admitted the URL; the last decision counts."""
        return not self.verdicts[-1].judged.rule

    def as_json(self) -> dict[str, Any]:
        """Return the explanation in the shape of `explain --as-of-run --json`."""
        return {
            "url": self.url,
            "canonical_url": self.canonical_url or None,
            "source": self.source,
            "run": self.run,
            "accept": self.accept,
            "judged": [verdict.as_json() for verdict in self.verdicts],
        }


def explain_past(project: Project, source: DataSource, url: str, run: int) -> PastExplanation:
    """Return the decisions of a run on a URL from its log of candidates. Raises `UserError`."""
    with _resolved(project, source, url) as (rules, link):
        forms = {url, link.access_url, rules.url_policy.canonical(url) or url}
        verdicts = past_verdicts(project, source, rules, run, forms)
        return PastExplanation(url, link.access_url, source.name, run, verdicts)
