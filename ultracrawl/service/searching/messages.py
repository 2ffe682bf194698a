"""What the service and its search processes send each other, as pickles."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path

from ultracrawl.dataclass import dataclass, field
from ultracrawl.service.searching.orders import Order
from ultracrawl.sources import Project
from ultracrawl.sources.reading.locations import Version


@dataclass(frozen=True, slots=True)
class Request:
    """An order, and what exists for its requester."""

    order: Order
    principals: tuple[str, ...] | None
    sources: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Task:
    """A request for a process; `project` is None if it is that of the task before."""

    request: Request
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class Basis:
    """What an answer was made from. As long as none of it changes, the answer is the same."""

    index: str
    """The name of the index."""
    commit: Hashable
    """See `HasCommits.commit_id`."""
    files: Mapping[Path, Version] = field(hash=False)
    """Files that were read, or looked for: synonyms, loaded boosts and lists."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a search process: a JSON object or an error."""

    found: dict[str, object] | None = None
    error: Exception | None = None
    basis: Basis | None = None
    """None: it may be another one next time."""
