"""Forecasts the begin of the next run of a source by its rules, without requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator
from typing import Any

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import UrlOutcome
from ultracrawl.model.candidate import Candidate
from ultracrawl.model.cause import RECHECKED_REMOVALS
from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.recrawl.cycle import RefreshMode
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.discovery.start_chain import admit_redirect_hosts
from ultracrawl.run.inspection.later_stages import FILTERS
from ultracrawl.run.removal.scope import NO_CHANGE, DefinitionChange, ScopeCheck, change_since, mark_of_next
from ultracrawl.sources import CompiledSource, DataSource
from ultracrawl.stores import Store

FilterJudge = Callable[[str, int], str]
"""Returns the filter that denies a description of a URL at a crawl depth; empty if none does."""


@dataclass(slots=True)
class Forecast:
    """The numbers with which a run would begin."""

    source: str
    known: int = 0
    """URLs in the document table."""
    resumes: bool = False
    """Whether the last run is continued: it did not end, and the definition is unchanged."""
    change: DefinitionChange = NO_CHANGE
    dropped: Counter[str] = field(default_factory=Counter)
    """Number of known URLs that would be removed, by rule."""
    deleted: int = 0
    """Number of documents among them that would be removed from the index."""
    held_back: bool = False
    """Whether these would be held back, unless the run finds a page inside the boundary that is no start URL."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of further documents that would be removed because filters deny their URLs, by filter."""
    forgotten: int = 0
    """Number of URLs that were gone several times and have no links to them."""
    start_urls: list[str] = field(default_factory=list)
    """Unknown start URLs that would be added."""
    refused: dict[str, str] = field(default_factory=dict)
    """Excluded start URLs, with the rule."""
    stages: dict[str, str] = field(default_factory=dict)
    """The stage of each rule that excludes a URL."""
    scheduled: int = 0
    """Number of URLs that would be queued at the begin; links found later are not included."""
    traps: list[str] = field(default_factory=list)
    """The patterns of crawler traps: no new URL of them would be requested."""
    listed: bool = False
    """Whether the source has a lister; new and changed documents that it names are not included."""

    @property
    def stays(self) -> int:
        """Number of known URLs that would remain."""
        return self.known - self.forgotten - self.dropped.total()

    def as_json(self) -> dict[str, Any]:
        """Return the forecast in the shape of `ultracrawl plan --json`."""
        return {
            "source": self.source,
            "known": self.known,
            "resumes": self.resumes,
            "scope_changed": self.change.scope,
            "recipe_changed": self.change.recipe,
            "sites_changed": self.change.sites.names if self.change.sites else [],
            "rescan": self.change.rescan,
            "dropped": self.dropped.total(),
            "dropped_by": dict(self.dropped.most_common()),
            "deleted": self.deleted,
            "held_back": self.held_back,
            "left_out": self.left_out.total(),
            "left_out_by": dict(self.left_out.most_common()),
            "forgotten": self.forgotten,
            "stays": self.stays,
            "start_urls_added": self.start_urls,
            "start_urls_refused": self.refused,
            "stages": self.stages,
            "scheduled": self.scheduled,
            "traps": self.traps,
            "listed": self.listed,
        }


def forecast(
    state: Store | None,
    rules: CompiledSource,
    rewriter: UrlRewriter | None,
    source: DataSource,
    now: float,
    *,
    closed: bool = False,
    judge: FilterJudge | None = None,
) -> Forecast:
    """Forecast a run that begins now; `state` is None for a source that was never crawled.

    `closed`: only known URLs are requested. `judge` applies the filters of the source. Known URLs and start URLs are
    judged by the list of stages without counters, because limits on new URLs do not apply to them.
    """
    result = Forecast(rules.name, listed=rules.listed)
    leaving = set[int]()
    if state is not None:
        admit_redirect_hosts(source, rules, state)
        leaving = _known(result, state, rules, rewriter, source, now, closed=closed)
        if judge is not None and not result.resumes:
            result.left_out.update(_denied(state, judge, leaving))
            result.stages |= dict.fromkeys(result.left_out, FILTERS)
    stages = CandidateRules(rules.boundary)
    for url in rules.seeds:
        key = url_key(url)
        if state is not None and key not in leaving and state.records.known_urls([key]):
            continue
        refusal = stages.refusal(Candidate(url, seed=True))
        if refusal is None:
            result.start_urls.append(url)
        else:
            result.refused[url] = refusal.rule
            result.stages[refusal.rule] = refusal.stage
    result.scheduled += len(result.start_urls)
    return result


def _known(
    result: Forecast,
    state: Store,
    rules: CompiledSource,
    rewriter: UrlRewriter | None,
    source: DataSource,
    now: float,
    *,
    closed: bool,
) -> set[int]:
    """Add the numbers of known URLs to `result`; returns the keys of URLs that would be removed."""
    latest, *earlier = [*state.runs(2), None]
    if latest is None:
        return set()
    is_over = source.refresh.rule.is_over(latest.place, latest.started, now)
    same = latest.scope == mark_of_next(latest, rules, closed=closed)
    result.resumes = not latest.finished and same and not is_over
    result.change = change_since(earlier[0] if result.resumes else latest, rules, closed=closed)
    result.known = state.records.count_urls().known
    leaving = set[int]() if result.resumes else state.records.forgettable_urls()
    result.forgotten = len(leaving)
    if result.change.scope and not rules.listed:
        for record, refusal in ScopeCheck(state, rules, rewriter).refusals():
            key = url_key(record.url)
            if key not in leaving:
                leaving.add(key)
                result.dropped[refusal.rule] += 1
                result.stages[refusal.rule] = refusal.stage
                result.deleted += record.searchable
        result.held_back = _leaves_nothing(result.deleted, state, rules, source, leaving)
    waiting = {key for key in _waiting(state) if key not in leaving}
    result.scheduled = (
        len(waiting) if result.resumes else _initial_number(result, state, rules, source, waiting)
    )
    return leaving


def _leaves_nothing(
    deleted: int, state: Store, rules: CompiledSource, source: DataSource, leaving: Container[int]
) -> bool:
    """Return whether documents would leave in exchange for nothing, as `Deletions` judges it at the end of a run."""
    left = state.records.count_urls().documents - deleted
    if not deleted or left >= deleted or source.deletion.percent >= 100:
        return False
    starts = state.records.get_records([key for key in map(url_key, rules.seeds) if key not in leaving])
    return left <= sum(record.retained for record in starts.values())


def _denied(state: Store, judge: FilterJudge, leaving: Container[int]) -> Iterator[str]:
    for record in state.records.all_records():
        if record.searchable and not record.removal and url_key(record.url) not in leaving:
            refusal = judge(record.url, record.depth)
            if refusal:
                yield refusal


def _initial_number(
    result: Forecast, state: Store, rules: CompiledSource, source: DataSource, left_over: set[int]
) -> int:
    """Return the number of known URLs in the queue of a new cycle; see `fill_queue` of the store."""
    mode = source.refresh.mode
    if mode is RefreshMode.KNOWN or (result.change.rescan and not rules.listed):
        removed = state.records.count_urls().outcomes.get(UrlOutcome.REMOVED, 0)
        return result.stays - len(state.sites.sitemap_keys()) - removed
    if mode is RefreshMode.ADAPTIVE:
        rule = source.refresh.adaptive_rule(uses_sitemaps=source.sitemaps.use)
        return sum(map(sum, map(rule.split, state.visits.site_sizes().values())))
    first = {*state.records.known_urls(list(map(url_key, rules.seeds))), *rechecked(state)}
    return len(first if mode is RefreshMode.SCRATCH else first | left_over)


def rechecked(state: Store) -> list[int]:
    """Return the keys of documents whose removal or new version was held back, and which are fetched again."""
    leaving = state.records.records_to_remove()
    rechecked = [url_key(one.url) for one in leaving if one.leaves_for(*RECHECKED_REMOVALS)]
    return list(dict.fromkeys((*rechecked, *(url_key(one.url) for one in state.records.held_records()))))


def _waiting(state: Store) -> Iterator[int]:
    for site, number in state.queue.waiting_sites():
        yield from (entry.key for entry in state.queue.entries_of(site, number))
