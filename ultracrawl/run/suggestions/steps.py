"""Tries the steps of `urls.normalise` on the known URLs of a source: what each would merge, and whether it may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from ultracrawl.model import CauseCode, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import UrlPolicy, url_key
from ultracrawl.rules.urls.normalise import STEPS, Step
from ultracrawl.run.suggestions.suggestion import Suggestion, SuggestionKind, Tally, has_content
from ultracrawl.sources import DataSource
from ultracrawl.sources.compilation.boundary import compile_url_policy
from ultracrawl.stores import Store

OPTION = ("urls", "normalise")
_REMEMBERED = 5_000
"""Forms of URLs that are no known URL themselves, and are compared with the next ones in the order of URLs."""
_TRIED: Final = 10
"""For each URL that a step merges it may give so many others a form that no known URL has."""

Verdict = Literal["same", "other", "unknown"]


class StepTrial:
    """What some steps, in addition to those of the source, would merge of its known URLs.

    Two URLs that get one form are compared by their content. A form that no known URL has is remembered for the URLs
    that follow, at most 5,000 of them at a time.
    """

    def __init__(self, source: DataSource, present: UrlPolicy, *steps: Step) -> None:
        self.steps = steps
        self._present = present
        self.policy = _policy(source, (*source.urls.normalise, *steps))
        """The policy that the source would have."""
        self._added = _policy(source, steps).normaliser
        self.merged, self.different = Tally(), Tally()
        self.untried = 0
        """URLs with a form that no other known URL has."""
        self._alone: dict[str, UrlRecord] = {}
        self._tried: set[str] = set()
        """Those of these forms that another URL got, too."""

    def add(self, state: Store, records: Sequence[UrlRecord]) -> None:
        """Compare those of some records that would get another form."""
        changed = [(record, form) for record in records if (form := self._other_form(record.url))]
        known = state.records.get_records([url_key(form) for _, form in changed]) if changed else {}
        for record, form in changed:
            other = known.get(url_key(form))
            if other is None or other.url != form:
                other = self._alone.get(form)
            if other is not None:
                self._compare(record, other, form)
            elif has_content(record):
                self.untried += 1
                self._remember(form, record)

    def _other_form(self, url: str) -> str | None:
        if not self._added.may_change(url) or next(self._added.changes(url), None) is None:
            return None  # known URLs are canonical, and few are changed
        form = self.policy.canonical(url)
        return None if form == url or form == self._present.canonical(url) else form

    def _remember(self, form: str, record: UrlRecord) -> None:
        if len(self._alone) >= _REMEMBERED:
            oldest = next(iter(self._alone))
            del self._alone[oldest]
            self._tried.discard(oldest)
        self._alone[form] = replace(record, links=b"", sketch=b"")

    def _compare(self, record: UrlRecord, other: UrlRecord, form: str) -> None:
        if self._present.canonical(record.url) == self._present.canonical(other.url):
            return  # the steps that the source has merge them
        verdict = _verdict(record, other, form)
        if verdict == "other":
            self.different.add(record.url, other.url)
        elif verdict == "same":
            self.merged.add(record.url, other.url)
            if self._alone.get(form) is other and form not in self._tried:
                self._tried.add(form)
                self.untried -= 1

    @property
    def is_sound(self) -> bool:
        """Whether all that it merges is the same, and enough of what it changes was compared."""
        is_tried = self.untried <= _TRIED * self.merged.number
        return bool(self.merged.number) and not self.different.number and is_tried

    @property
    def suggestion(self) -> Suggestion:
        """The suggestion to write the first of the steps; if pairs have different contents, they are the examples."""
        counts = {
            "merged": self.merged.number,
            "different": self.different.number,
            "untried": self.untried,
        }
        examples = tuple(self.different.examples or self.merged.examples)
        return Suggestion(SuggestionKind.STEP, self.steps[0], counts, examples, OPTION, self.steps[0])


def _policy(source: DataSource, steps: Sequence[Step]) -> UrlPolicy:
    urls = source.urls.model_copy(update={"normalise": tuple(steps)})
    return compile_url_policy(source.model_copy(update={"urls": urls}))


def step_trials(source: DataSource, present: UrlPolicy) -> Iterator[StepTrial]:
    """Yield a trial of each step that the source does not have."""
    return (StepTrial(source, present, step) for step in STEPS if step not in source.urls.normalise)


def _verdict(record: UrlRecord, other: UrlRecord, form: str) -> Verdict:
    """Return whether two URLs have one content; a redirect to the form counts, because the step spares it."""
    ours, theirs = has_content(record), has_content(other)
    if record.redirects_to == other.url:
        return "same" if theirs and other.url == form else "unknown"
    if other.redirects_to == record.url or _is_unknown(record) or _is_unknown(other):
        return "unknown"
    if ours and theirs:
        return "same" if _is_same(record, other) or _is_same(other, record) else "other"
    return "other" if ours or theirs else "unknown"


def _is_same(record: UrlRecord, other: UrlRecord) -> bool:
    if record.cause.code in (CauseCode.SAME_CONTENT, CauseCode.CANONICAL) and record.cause.subject in (
        other.url,
        other.shown_url,
    ):
        return True
    if record.fingerprint and other.fingerprint:
        return record.fingerprint == other.fingerprint
    return bool(record.checksum) and record.checksum == other.checksum


def _is_unknown(record: UrlRecord) -> bool:
    """Return whether nobody has seen what the URL has, or an answer that may be another one tomorrow."""
    is_refused = record.outcome is UrlOutcome.HTTP_ERROR and 400 <= record.status_code < 500
    return record.outcome.transient and not is_refused and not has_content(record)
