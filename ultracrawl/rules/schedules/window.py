"""Run windows of schedules: spans of the week or of each day."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import tzinfo

from ultracrawl.rules.frontier.politeness.windows import DAYS, Span, Week

_DAILY = re.compile(r"\s*(\d{1,2})[.:](\d{2})\s*-\s*(\d{1,2})[.:](\d{2})\s*")
_OPEN = 0.0
"""The delay that marks a span of a run window as open."""


def parse_span(text: str) -> list[Span]:
    """Parse `22:00-06:00` (each day) or `Fri:22.00-Mon:06.00` to spans. Raises `ValueError` with the reason."""
    match = _DAILY.fullmatch(text)
    if match is None:
        return [Span.parse(text, _OPEN)]
    begin, end = ".".join(match.group(1, 2)), ".".join(match.group(3, 4))
    spans_midnight = (int(match[3]), int(match[4])) <= (int(match[1]), int(match[2]))
    end_days = [*DAYS[1:], DAYS[0]] if spans_midnight else DAYS
    return [
        Span.parse(f"{day}:{begin}-{end_day}:{end}", _OPEN)
        for day, end_day in zip(DAYS, end_days, strict=True)
    ]


class RunWindow:
    """The spans in which crawls may run; always, if there are none."""

    def __init__(self, spans: Iterable[Span] = (), zone: tzinfo | None = None) -> None:
        self._week = Week(spans, zone)

    def is_open(self, moment: float) -> bool:
        """Return whether crawls may run."""
        return not self._week or self._week.at(moment).delay is not None

    def opens(self, moment: float) -> float:
        """Return when crawls may run next: `moment` if they may run then."""
        return self._next_change(moment, to_open=True)

    def closes(self, moment: float) -> float | None:
        """Return when crawls that may run now have to end, None for never."""
        if not self._week:
            return None
        end = self._next_change(moment, to_open=False)
        return None if self.is_open(end) else end

    def _next_change(self, moment: float, *, to_open: bool) -> float:
        for _ in range(2 * len(self._week.spans) + 2):
            if self.is_open(moment) is to_open:
                break
            moment = self._week.at(moment).until
        return moment
