"""What sources hold and when they were last crawled well, read from their states, seldom enough to cost little."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from ultracrawl.errors import StateError
from ultracrawl.model.dates import parse_w3c_date
from ultracrawl.sources import Project
from ultracrawl.stores import RunMark, Store
from ultracrawl.stores.opening import state_to_read

FRESH = 60.0
"""Seconds for which what was read counts: a million URLs take a second to count."""
_RUNS_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a source holds."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """URLs by what is known of them: known, queued, indexed, pending, leaving."""
    outcomes: Mapping[str, int] = field(default_factory=dict)
    last_success: float | None = None
    """When the last run ended that did what it was asked for, in seconds since 1970."""
    readable: bool = True


class HoldingsReader:
    """Reads what sources hold, each at most once in `FRESH` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read: dict[str, tuple[float, Holdings]] = {}

    def holdings_of(self, project: Project, name: str) -> Holdings:
        """Return what a source holds; of one whose state cannot be read nothing but that."""
        at, found = self._read.get(name, (0.0, Holdings()))
        if name not in self._read or self._clock() - at > FRESH:
            found = read_holdings(project, name)
            self._read[name] = (self._clock(), found)
        return found


def read_holdings(project: Project, name: str) -> Holdings:
    """Read what a source holds."""
    try:
        with state_to_read(project, name) as state:
            if state is None:
                return Holdings()
            counts, success = state.records.count_urls(), _latest_success(state)
    except StateError:
        return Holdings(readable=False)
    numbers = {
        "known": counts.known, "queued": counts.queued, "indexed": counts.indexed, "pending": counts.pending,
        "leaving": counts.removals,
    }  # fmt: skip
    outcomes = {outcome.value: number for outcome, number in counts.outcomes.items()}
    return Holdings(numbers, outcomes, success)


def last_success(project: Project, name: str) -> float | None:
    """Return when the last run of a source ended that did what it was asked for; None if none did, or is known."""
    with suppress(StateError), state_to_read(project, name) as state:
        return None if state is None else _latest_success(state)
    return None


def _latest_success(state: Store) -> float | None:
    return next(filter(None, map(_success, state.runs(_RUNS_LOOKED_AT))), None)


def _success(run: RunMark) -> float | None:
    """Return when a run ended well, None if it did not."""
    report = json.loads(run.report) if run.report else {}
    if not run.finished or report.get("problems") or report.get("interrupted"):
        return None
    moment = parse_w3c_date(report.get("finished") or "")
    return moment.timestamp() if moment is not None else run.finished
