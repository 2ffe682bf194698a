"""Reads the state of a source, without a request, for what would make its crawl better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.model import UrlRecord
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.candidates.traps import Trap
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.run.suggestions.causes import CauseSurvey
from ultracrawl.run.suggestions.patterns import URIS, WASTED, PatternSurvey, is_wasted
from ultracrawl.run.suggestions.steps import StepTrial, step_trials
from ultracrawl.run.suggestions.suggestion import Suggestion, SuggestionKind, in_blocks
from ultracrawl.run.suggestions.versions import VersionSurvey
from ultracrawl.sources import CompiledSource, DataSource
from ultracrawl.sources.reading.tree import Data, OptionPath
from ultracrawl.stores import Store

Additions = dict[OptionPath, list[Data]]
"""Items by the list of the definition that they are added to."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What would make the crawl of a source better, what helps most first within each kind."""

    all: tuple[Suggestion, ...]
    doubtful: tuple[Suggestion, ...] = ()
    """Steps that would merge URLs, but also some with different contents, or that are hardly tried."""

    @property
    def additions(self) -> Additions:
        """What is to be added to lists of the definition."""
        found: Additions = {}
        for suggestion in self.all:
            if suggestion.option:
                found.setdefault(suggestion.option, []).append(suggestion.value)
        return found


def suggestions_of(
    state: Store, source: DataSource, rules: CompiledSource, traps: Iterable[Trap] = ()
) -> Suggestions:
    """Return what the state of a source, and the traps that its crawls met, suggest. Raises `StateError`.

    The known URLs are read twice in their order, and those without a document once more. What is kept of them in memory
    does not grow with their number.
    """
    causes, versions = CauseSurvey(), VersionSurvey(rules.seeds)
    if rules.listed:
        for record in state.records.all_records():
            causes.count(record)
        return Suggestions(tuple(_sorted(causes.suggestions())))
    present = rules.url_policy
    trials = [*step_trials(source, present)]
    for block in in_blocks(state.records.all_records()):
        for record in block:
            causes.count(record)
            versions.count(record)
        for trial in trials:
            trial.add(state, block)
    sound = sorted((one for one in trials if one.is_sound), key=lambda one: -one.merged.number)
    versions.choose()
    together = StepTrial(source, present, *(step for one in sound for step in one.steps))
    inside = _Inside(rules, together.policy)
    patterns = PatternSurvey(rules.seeds)
    for record in _wasted(state, inside):
        patterns.count_wasted(record)
    patterns.keep_large()
    for block in in_blocks(state.records.all_records()):
        forms = [*inside.forms(block)]
        versions.compare(state, forms)
        patterns.note(state, forms)
        if len(sound) > 1:
            together.add(state, block)
    if together.different.number:
        sound = sound[:1]
    for record in _wasted(state, inside):
        patterns.assign(record)
    found = [*versions.suggestions()]
    folders = [one.subject for one in found]
    found += (one for one in patterns.suggestions() if one.subject not in folders)
    found += (_exclusion(trap) for trap in traps if trap.bounded)
    doubtful = [one for one in trials if one not in sound and one.merged.number]
    return Suggestions(
        (*(one.suggestion for one in sound), *_sorted(found), *_sorted(causes.suggestions())),
        tuple(one.suggestion for one in doubtful),
    )


class _Inside:
    """Tells what the next crawl would request of the known URLs, and by which URL."""

    def __init__(self, rules: CompiledSource, policy: UrlPolicy) -> None:
        self._stages = CandidateRules(rules.boundary)
        self._seeds = frozenset(rules.seeds)
        self._policy = policy

    def form(self, record: UrlRecord) -> UrlRecord | None:
        """Return a record with the URL that takes the place of its own; None if a rule excludes it."""
        seed = record.url in self._seeds
        policy = self._policy.without_rewriting if record.display_url else self._policy
        url = record.url if seed else policy.canonical(record.url)
        if url is None:
            return None
        known = Candidate(url, 0 if seed else record.depth, seed=seed, known=True)
        is_outside = self._stages.known_rejects(known) is not None
        return None if is_outside else record if url == record.url else replace(record, url=url)

    def forms(self, records: Iterable[UrlRecord]) -> Iterator[UrlRecord]:
        """Yield the forms of those of some records that no rule excludes."""
        return (form for record in records if (form := self.form(record)) is not None)


def _wasted(state: Store, inside: _Inside) -> Iterator[UrlRecord]:
    """Yield what brought nothing and would be requested all the same."""
    for outcome in WASTED:
        for record in state.records.all_records(outcome):
            if is_wasted(record) and inside.form(record) is record:
                yield record


def _exclusion(trap: Trap) -> Suggestion:
    counts = {"pages": trap.pages}
    value: Data = {"regexp": trap.exclusion}
    return Suggestion(SuggestionKind.TRAP, trap.pattern, counts, (), URIS, value)


def _sorted(suggestions: Iterator[Suggestion] | list[Suggestion]) -> list[Suggestion]:
    return sorted(suggestions, key=lambda one: -sum(one.counts.values()))
