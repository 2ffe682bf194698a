"""The URL counts and last runs of sources, read from their states and cached until these change."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import StateError
from ultracrawl.model.dates import parse_w3c_date
from ultracrawl.service.control import readable_status
from ultracrawl.sources import Project
from ultracrawl.stores import RunMark, StateCounts
from ultracrawl.stores.project_stores import source_notes, state_to_read, state_version
from ultracrawl.stores.source_notes.failure import FailureNote, failure_note

RECENT_RUNS = 20
"""Runs of a source that are read."""
_MAX_READ_SHARE = 0.05
"""Maximum share of time that is spent reading the state of a source during its crawl."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """The numbers of a source."""

    counts: StateCounts | None = None
    """None if it was never crawled, or its state cannot be read."""
    latest: RunMark | None = None
    last_success: float | None = None
    """The end of the last successful run, in seconds since 1970."""
    problem: str = ""
    """Why its state cannot be read."""
    runs: tuple[RunMark, ...] = ()
    """The latest runs, the newest first."""

    @property
    def numbers(self) -> dict[str, int]:
        """The URL counts, as in `status --json`."""
        counts = self.counts or StateCounts(0, 0, 0, {})
        return {
            "known": counts.known,
            "queued": counts.queued,
            "indexed": counts.indexed,
            "pending": counts.pending,
            "leaving": counts.removals,
            "held_back": counts.held_back,
        }

    @property
    def outcomes(self) -> dict[str, int]:
        """The URL counts by their latest outcome."""
        if self.counts is None:
            return {}
        return {outcome.value: number for outcome, number in self.counts.outcomes.items()}


def read_holdings(project: Project, name: str) -> Holdings:
    """Read the numbers of a source; counting a million URLs takes a second."""
    try:
        with state_to_read(project, name) as state:
            if state is None:
                return Holdings()
            runs = tuple(state.runs(RECENT_RUNS))
            return Holdings(
                state.records.count_urls(), next(iter(runs), None), _latest_success(runs), runs=runs
            )
    except StateError as error:
        return Holdings(problem=str(error))


@dataclass(frozen=True, slots=True)
class _Read:
    mark: object
    at: float
    took: float
    holdings: Holdings


class HoldingsReader:
    """Reads and caches the numbers of sources; limits the time spent on sources that are being crawled."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read: dict[str, _Read] = {}

    def holdings_of(self, project: Project, name: str) -> Holdings:
        """Return the numbers of a source."""
        mark, begun = state_version(project, name), self._clock()
        known = self._read.get(name)
        if known is not None and mark is not None:
            is_recent = begun - known.at < known.took / _MAX_READ_SHARE
            if mark == known.mark or (is_recent and readable_status(project, name) is not None):
                return known.holdings
        holdings = read_holdings(project, name)
        ended = self._clock()
        self._read[name] = _Read(mark, ended, ended - begun, holdings)
        return holdings


def failure_after(project: Project, name: str, latest: RunMark | None) -> FailureNote | None:
    """Return the note of a crawl that failed or could not start after the latest run; None if there is none."""
    note = failure_note(source_notes(project, name))
    return note if note is not None and (latest is None or note.at > latest.finished) else None


def last_failed(project: Project, name: str) -> bool:
    """Return whether the last crawl of a source failed; False if its state cannot be read."""
    try:
        with state_to_read(project, name) as state:
            latest = next(iter(state.runs(1)), None) if state is not None else None
    except StateError:
        return False
    report = json.loads(latest.report) if latest is not None and latest.report else {}
    return bool(report.get("problems")) or failure_after(project, name, latest) is not None


def last_success(project: Project, name: str) -> float | None:
    """Return the end of the last successful run of a source; None if there is none, or the state cannot be read."""
    try:
        with state_to_read(project, name) as state:
            return None if state is None else _latest_success(state.runs(RECENT_RUNS))
    except StateError:
        return None


def _latest_success(runs: Iterable[RunMark]) -> float | None:
    return next(filter(None, map(_success, runs)), None)


def _success(run: RunMark) -> float | None:
    """Return the end of a successful run; None for other runs."""
    report = json.loads(run.report) if run.report else {}
    if not run.finished or report.get("problems") or report.get("interrupted"):
        return None
    finished = parse_w3c_date(report.get("finished") or "")
    return finished.timestamp() if finished is not None else run.finished
