"""The outcome of the latest check of golden queries by a service, in the state folder of the project."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.model.dates import iso
from ultracrawl.service.answers.checking import AnswerCheck
from ultracrawl.sources import Project
from ultracrawl.system.files import convert_write_errors, replace_file


@dataclass(frozen=True, slots=True)
class FallenAnswer:
    """A page that is no longer among the first hits of its query; what stands before it is for a new search to say."""

    query: str
    page: str
    within: int
    position: int | None
    """Its position then; None if it was not found."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What a check found."""

    time: float
    """Seconds since 1970."""
    queries: int
    pages: int
    fallen: tuple[FallenAnswer, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of the API."""
        return {**asdict(self), "time": iso(self.time), "fallen": [asdict(one) for one in self.fallen]}


def read_outcome(project: Project) -> CheckOutcome | None:
    """Return the latest outcome; None without one, or if its file cannot be read."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads(_path(project).read_bytes())
        fallen = tuple(FallenAnswer(**one) for one in found.pop("fallen"))
        return CheckOutcome(**found, fallen=fallen)
    return None


def write_outcome(project: Project, checked: AnswerCheck) -> None:
    """Store what a check found. Raises `WorkError` if the file cannot be written."""
    fallen = tuple(FallenAnswer(one.query, one.page, one.within, one.position) for one in checked.fallen)
    outcome = CheckOutcome(time.time(), checked.queries, checked.pages, fallen)
    path = _path(project)
    with convert_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, json.dumps(asdict(outcome), ensure_ascii=False).encode())


def _path(project: Project) -> Path:
    return project.state.path / "service" / "answers.json"
