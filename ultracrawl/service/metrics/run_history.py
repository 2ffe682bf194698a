"""The numbers of the latest runs of a source, as tables and plots of the service show them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import Any

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.model import UrlOutcome
from ultracrawl.model.dates import iso
from ultracrawl.stores import RunMark

ERRORS = (UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED)
"""Outcomes of URLs that were not fetched for an error."""


class RunEnd(StrEnum):
    """How a run ended."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """The next run continues it."""
    UNFINISHED = "unfinished"
    """It goes on, or was killed."""


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """The numbers of one run; those of one that has not ended are 0 or None."""

    run: int
    began: float
    """Seconds since 1970."""
    end: RunEnd
    seconds: float = 0.0
    fetched: int = 0
    new: int = 0
    modified: int = 0
    deleted: int = 0
    """Documents that left the index."""
    errors: int = 0
    """URLs that were not fetched for an error of the network, the server or this program."""
    bytes: int = 0
    documents: int | None = None
    """Documents in the index at its end; None if its report is older than this number."""
    answer_seconds: float | None = None
    """Mean time until the answer of a page began; None if no page was asked for."""
    problem: str = ""
    """Why it failed, in one line."""
    limit: str = ""
    """The limit that ended it, or at which new URLs were left out."""

    @property
    def is_changed(self) -> bool:
        """Whether the index was changed."""
        return bool(self.new or self.modified or self.deleted)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `ultracrawl stats --json`."""
        return {
            **asdict(self),
            "began": iso(self.began),
            "end": self.end.value,
            "problem": self.problem or None,
            "limit": self.limit or None,
        }


def run_numbers(runs: Iterable[RunMark]) -> tuple[RunNumbers, ...]:
    """Return the numbers of runs, in their order."""
    return tuple(map(_numbers, runs))


@lru_cache(maxsize=4096)
def _numbers(mark: RunMark) -> RunNumbers:
    if not mark.report:
        return RunNumbers(mark.number, mark.started, RunEnd.DONE if mark.finished else RunEnd.UNFINISHED)
    report = json.loads(mark.report)
    outcomes = {
        outcome: report.get("outcomes", {}).get(outcome, 0)
        + report.get("outcomes_before", {}).get(outcome, 0)
        for outcome in (UrlOutcome.NEW, UrlOutcome.MODIFIED, *ERRORS)
    }
    problems = report.get("problems") or []
    end = RunEnd.FAILED if problems else RunEnd.STOPPED if report.get("interrupted") else RunEnd.DONE
    return RunNumbers(
        mark.number,
        mark.started,
        end,
        seconds=report.get("seconds", 0.0),
        fetched=report.get("fetched", 0),
        new=outcomes[UrlOutcome.NEW],
        # Reports of earlier versions count documents as MODIFIED that were indexed again unchanged.
        modified=max(outcomes[UrlOutcome.MODIFIED] - report.get("indexed_again", 0), 0),
        deleted=report.get("deleted", 0),
        errors=sum(outcomes[one] for one in ERRORS),
        bytes=report.get("bytes", 0),
        documents=report.get("documents"),
        answer_seconds=report.get("answer_seconds"),
        problem=next(iter(problems), ""),
        limit=report.get("ended_by") or report.get("left_out_by") or "",
    )
