"""What runs and logs of a project say after a soak."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from support.project import Workspace

from soak.service import Sample
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores import RunMark
from ultracrawl.stores.project_stores import state_to_read

MOST_RUNS = 100_000
MOST_GROWTH = 1.3
MOST_KB_A_CRAWL = 20.0
"""Private memory that a service may gain with each crawl: what is loaded once, or waits to be collected."""
MOST_FILES = 4
"""Files that a service may have open besides those that it had open in the beginning."""


def runs_of(workspace: Workspace, source: str) -> list[RunMark]:
    """Return all runs of a source, the first one first."""
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    with state_to_read(project, source) as state:
        return state.runs(MOST_RUNS)[::-1] if state else []


def last_success(runs: Sequence[RunMark]) -> tuple[float, float]:
    """Return when the latest run began that did what it was there for, and when it ended."""
    good = (run for run in reversed(runs) if run.finished and not _problems(run))
    return next(((run.started, run.finished) for run in good), (0.0, 0.0))


def runs_at_once(source: str, runs: Sequence[RunMark]) -> Iterator[str]:
    """Yield the runs that began before the one before them was over; one that was killed has no end."""
    for one, other in pairwise(runs):
        if other.started < max(one.started, one.finished):
            yield f"{source}: run {other.number} began while run {one.number} went on"


def tracebacks(workspace: Workspace) -> list[str]:
    """Return what logs say of programs that went wrong."""
    logs = [*workspace.directory.glob("*.log"), *(workspace.directory / "var" / "log").rglob("*")]
    return [
        f"{path.name}: {text[found.start() :][:3000]}"
        for path in logs
        if path.is_file() and (found := re.search("Traceback", text := path.read_text(errors="replace")))
    ]


def growth(samples: Sequence[Sample]) -> float:
    """Return how many times larger the service was in the last sixth of the time than in the second."""
    sixth = max(1, len(samples) // 6)
    early, late = samples[sixth : 2 * sixth] or samples[:1], samples[-sixth:]
    return median(one.service for one in late) / median(one.service for one in early)


def gained_by_crawls(samples: Sequence[tuple[int, Sample]]) -> tuple[float, int]:
    """Return by how many kB of private memory a warm service grew with each crawl, and by how many open files in all.

    `samples` are taken at equal distances, with the number of crawls until then. The least of the last quarter is
    compared with the least of the second: what is needed for moments does not count, nor what is loaded once.
    """
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    crawls = median(number for number, _ in late) - median(number for number, _ in early)
    private, files = (
        min(measure(one) for _, one in late) - min(measure(one) for _, one in early)
        for measure in (lambda one: 1000 * one.private, lambda one: one.files)
    )
    return private / crawls, files


def _problems(run: RunMark) -> object:
    report = json.loads(run.report or "{}")
    return not report or report.get("problems") or report.get("interrupted")
