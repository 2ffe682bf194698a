"""Counts why pages of a source were not read, where something can be done about it."""

from __future__ import annotations

from collections.abc import Iterator

from ultracrawl.model import Cause, CauseCode, UrlOutcome, UrlRecord
from ultracrawl.model.advice import advice_for, advice_for_record
from ultracrawl.run.suggestions.suggestion import Suggestion, SuggestionKind, Tally

_NO_PAGES = frozenset({CauseCode.TYPE, CauseCode.TYPE_NOT_CONVERTED, CauseCode.BINARY_AS_TEXT})
"""Causes of what is rather a file than a page, which the definition does not want."""
_LEAST_PERCENT = 1
"""Share of the known URLs that a cause has to cost."""


class CauseSurvey:
    """Counts the URLs without a document by their causes; those that are gone are none."""

    def __init__(self) -> None:
        self._known = 0
        self._causes: dict[tuple[CauseCode, str], tuple[Cause, Tally]] = {}

    def count(self, record: UrlRecord) -> None:
        """Count a URL."""
        self._known += 1
        cause = record.cause
        if (
            not cause
            or cause.code in _NO_PAGES
            or record.outcome is UrlOutcome.GONE
            or not advice_for_record(record)
        ):
            return
        status = cause.subject if cause.code is CauseCode.STATUS else ""
        self._causes.setdefault((cause.code, status), (cause, Tally()))[1].add(record.url)

    def suggestions(self) -> Iterator[Suggestion]:
        """Yield the advice about each cause that costs a hundredth of the URLs or more."""
        for cause, tally in self._causes.values():
            if tally.number * 100 >= _LEAST_PERCENT * self._known:
                yield Suggestion(
                    SuggestionKind.CAUSE,
                    cause.heading,
                    {"urls": tally.number},
                    tuple(tally.examples),
                    advice=advice_for(cause, in_run=False),
                )
