"""Two runs of a source side by side: their numbers, outcomes, answers and excluded links, with the difference."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import NotFoundError
from ultracrawl.service.metrics.run_history import RunNumbers, run_numbers
from ultracrawl.sources import Project
from ultracrawl.stores import RunMark
from ultracrawl.stores.project_stores import state_to_read

MOST_RUNS = 1000
"""Latest runs among which a number is looked up."""
_NUMBERS = (
    "fetched",
    "new",
    "modified",
    "deleted",
    "documents",
    "errors",
    "bytes",
    "seconds",
    "answer_seconds",
)


class Compared(NamedTuple):
    """A number of both runs; None where a report does not have it."""

    name: str
    first: float | None
    second: float | None

    @property
    def difference(self) -> float | None:
        """How much more the second run has."""
        if self.first is None or self.second is None:
            return None
        return round(self.second - self.first, 4)

    @property
    def is_shown(self) -> bool:
        """Whether one of the runs counted something, or does not know."""
        return self.first != 0 or self.second != 0


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Two runs of a source, and what is different between them."""

    source: str
    first: RunNumbers
    second: RunNumbers
    numbers: tuple[Compared, ...]
    outcomes: tuple[Compared, ...]
    """URLs by outcome, those before an interruption too."""
    status_codes: tuple[Compared, ...]
    rejected_by: tuple[Compared, ...]
    """Links by the rule that excludes them."""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `ultracrawl stats --compare`."""
        return {
            "source": self.source,
            "first": self.first.as_json(),
            "second": self.second.as_json(),
            "numbers": _values(self.numbers),
            "outcomes": _values(self.outcomes),
            "status_codes": _values(self.status_codes),
            "rejected_by": _values(self.rejected_by),
        }


def compare_runs(project: Project, source: str, first: int, second: int) -> RunDifference:
    """Return what is different between two runs of a source. Raises `NotFoundError`, `StateError`."""
    with state_to_read(project, source) as state:
        marks = {mark.number: mark for mark in state.runs(MOST_RUNS)} if state is not None else {}
    return difference_of(source, _mark(source, marks, first), _mark(source, marks, second))


def difference_of(source: str, first: RunMark, second: RunMark) -> RunDifference:
    """Return what is different between two runs; one that goes on has no number yet."""
    marks = (first, second)
    numbers = run_numbers(marks)
    return RunDifference(
        source,
        numbers[0],
        numbers[1],
        tuple(_compared(marks, name, [getattr(one, name) for one in numbers]) for name in _NUMBERS),
        _counted(marks, "outcomes", "outcomes_before"),
        _counted(marks, "status_codes"),
        _counted(marks, "rejected_by"),
    )


def _mark(source: str, marks: Mapping[int, RunMark], number: int) -> RunMark:
    if number not in marks:
        raise NotFoundError(f"{source!r} has no run {number} among its latest {MOST_RUNS:,} runs")
    return marks[number]


def _counted(marks: Sequence[RunMark], *names: str) -> tuple[Compared, ...]:
    """Return the counts that the reports have under some names, what changed most first."""
    reports = [json.loads(mark.report or "{}") for mark in marks]
    counts = [sum((Counter(report.get(name)) for name in names), Counter[str]()) for report in reports]
    rows = [_compared(marks, one, [count[one] for count in counts]) for one in set().union(*counts)]
    return tuple(sorted(rows, key=lambda row: (-abs(row.difference or 0), row.name)))


def _compared(marks: Sequence[RunMark], name: str, values: Sequence[float | None]) -> Compared:
    first, second = (value if mark.report else None for mark, value in zip(marks, values, strict=True))
    return Compared(name, first, second)


def _values(rows: Sequence[Compared]) -> dict[str, dict[str, float | None]]:
    return {
        one.name: {"first": one.first, "second": one.second, "difference": one.difference} for one in rows
    }
