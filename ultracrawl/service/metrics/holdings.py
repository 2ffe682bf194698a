"""What sources hold and how their last runs went, read from their states, and only if these have changed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from ultracrawl.errors import StateError
from ultracrawl.model.dates import parse_w3c_date
from ultracrawl.service.control import readable_sign
from ultracrawl.sources import Project
from ultracrawl.stores import RunMark, StateCounts, Store
from ultracrawl.stores.failure_note import FailureNote, failure_note
from ultracrawl.stores.opening import state_file, state_to_read, state_version

_RUNS_LOOKED_AT = 20
_SHARE = 0.05
"""The part of the time for which the state of a source is read again and again that is being crawled."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a source holds."""

    counts: StateCounts | None = None
    """Its URLs; None if it was never crawled, or its state cannot be read."""
    latest: RunMark | None = None
    last_success: float | None = None
    """When the last run ended that did what it was asked for, in seconds since 1970."""
    problem: str = ""
    """Why its state cannot be read."""

    @property
    def numbers(self) -> dict[str, int]:
        """Its URLs by what is known of them."""
        counts = self.counts or StateCounts(0, 0, 0, {})
        return {
            "known": counts.known,
            "queued": counts.queued,
            "indexed": counts.indexed,
            "pending": counts.pending,
            "leaving": counts.removals,
        }

    @property
    def outcomes(self) -> dict[str, int]:
        """Its URLs by their latest outcome."""
        return {one.value: number for one, number in self.counts.outcomes.items()} if self.counts else {}


def read_holdings(project: Project, name: str) -> Holdings:
    """Read what a source holds: a million URLs take a second to count."""
    try:
        with state_to_read(project, name) as state:
            if state is None:
                return Holdings()
            latest = next(iter(state.runs(1)), None)
            return Holdings(state.records.count_urls(), latest, _latest_success(state))
    except StateError as error:
        return Holdings(problem=str(error))


@dataclass(frozen=True, slots=True)
class _Read:
    mark: object
    at: float
    took: float
    holdings: Holdings


class HoldingsReader:
    """Reads what sources hold: each when its state has changed, and while it is crawled not all the time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read: dict[str, _Read] = {}

    def holdings_of(self, project: Project, name: str) -> Holdings:
        """Return what a source holds."""
        mark, begun = state_version(project, name), self._clock()
        known = self._read.get(name)
        if known is not None and mark is not None:
            lately = begun - known.at < known.took / _SHARE
            if mark == known.mark or (lately and readable_sign(project, name) is not None):
                return known.holdings
        found = read_holdings(project, name)
        ended = self._clock()
        self._read[name] = _Read(mark, ended, ended - begun, found)
        return found


def failure_after(project: Project, name: str, latest: RunMark | None) -> FailureNote | None:
    """Return why a crawl of a source failed as a whole, or could not begin, if that was after its latest run."""
    file = state_file(project, name)
    note = failure_note(file) if file is not None else None
    return note if note is not None and (latest is None or note.at > latest.finished) else None


def last_failed(project: Project, name: str) -> bool:
    """Return whether the last crawl of a source failed; one whose state cannot be read has done nothing yet."""
    try:
        with state_to_read(project, name) as state:
            latest = next(iter(state.runs(1)), None) if state is not None else None
    except StateError:
        return False
    report = json.loads(latest.report) if latest is not None and latest.report else {}
    return bool(report.get("problems")) or failure_after(project, name, latest) is not None


def last_success(project: Project, name: str) -> float | None:
    """Return when the last run of a source ended that did what it was asked for; None if none did, or is known."""
    try:
        with state_to_read(project, name) as state:
            return None if state is None else _latest_success(state)
    except StateError:
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
