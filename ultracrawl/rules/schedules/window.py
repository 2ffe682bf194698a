"""When crawls of a schedule may run: spans of the week, or of each day."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import tzinfo

from ultracrawl.rules.frontier.politeness.windows import DAYS, Span, Week

_DAILY = re.compile(r"\s*(\d{1,2})[.:](\d{2})\s*-\s*(\d{1,2})[.:](\d{2})\s*")
_OPEN = 0.0
"""What a span has that is open; outside of all spans there is nothing."""


def parse_span(text: str) -> list[Span]:
    """Return the spans of `22:00-06:00` (each day) or `Fri:22.00-Mon:06.00`. Raises `ValueError` with the reason."""
    found = _DAILY.fullmatch(text)
    if found is None:
        return [Span.parse(text, _OPEN)]
    begin, end = ".".join(found.group(1, 2)), ".".join(found.group(3, 4))
    through_midnight = (int(found[3]), int(found[4])) <= (int(found[1]), int(found[2]))
    following = [*DAYS[1:], DAYS[0]] if through_midnight else DAYS
    return [
        Span.parse(f"{day}:{begin}-{last}:{end}", _OPEN) for day, last in zip(DAYS, following, strict=True)
    ]


class RunWindow:
    """The spans in which crawls may run; without any they always may."""

    def __init__(self, spans: Iterable[Span] = (), zone: tzinfo | None = None) -> None:
        self._week = Week(spans, zone)

    def is_open(self, moment: float) -> bool:
        """Return whether crawls may run."""
        return not self._week or self._week.at(moment).delay is not None

    def opens(self, moment: float) -> float:
        """Return when crawls may run next: at once, if they may now."""
        return self._turns(moment, to_open=True)

    def closes(self, moment: float) -> float | None:
        """Return when crawls that may run now have to end; None if they never have."""
        if not self._week:
            return None
        ends = self._turns(moment, to_open=False)
        return None if self.is_open(ends) else ends

    def _turns(self, moment: float, *, to_open: bool) -> float:
        for _ in range(2 * len(self._week.spans) + 2):
            if self.is_open(moment) is to_open:
                break
            moment = self._week.at(moment).until
        return moment
