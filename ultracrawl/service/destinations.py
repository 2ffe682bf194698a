"""Status of the destinations of sources, and pausing and resuming them."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.errors import UserError
from ultracrawl.index.writing.destination_queue import PROBLEM_FILE
from ultracrawl.index.writing.destination_queues import queue_folder
from ultracrawl.index.writing.project_outputs import cache_folder, former_indexes, pause_switch
from ultracrawl.run.writing.pauses import Pauses
from ultracrawl.run.writing.source_writer import idle_writer
from ultracrawl.service.control import running_crawl_status
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.stores.project_stores import open_state, state_exists


@dataclass(frozen=True, slots=True)
class DestinationStatus:
    """The status of one destination of a source."""

    source: str
    destination: str
    """The label in the definition; empty if the source has the index of the project only."""
    index: str
    primary: bool
    paused: bool
    segments: int
    """Sealed segments that wait to be written."""
    bytes: int
    problem: str
    """Why the last write to the index failed; empty if it succeeded."""
    fed: bool = True
    """False for a former index that the definition does not name any more."""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `ultracrawl feeding status --json`."""
        return asdict(self)


def destination_status(project: Project, source: DataSource) -> list[DestinationStatus]:
    """Return the status of each destination of a source, the primary one first, former ones last."""
    cache = cache_folder(project, source.name)
    pauses = Pauses(source.feeding, pause_switch(project, source.name))
    pauses.changed(0.0)
    indexes = [(section.label, section.index) for section in source.feeding.in_order] or [("", PROJECT_INDEX)]
    has_project_index_only = [index for _, index in indexes] == [PROJECT_INDEX]
    former = former_indexes(project, source)
    if former and source.name in project.invalid_sources and not source.feeding.in_order:
        return [_undefined(source.name, cache, index, pauses) for index in former]
    current = [
        _status(
            source.name,
            label,
            index,
            cache if has_project_index_only else queue_folder(cache, index),
            primary=number == 0,
            paused=pauses.of(label),
        )
        for number, (label, index) in enumerate(indexes)
    ]
    left = [
        _status(source.name, "", index, queue_folder(cache, index), primary=False, paused=True, fed=False)
        for index in former
    ]
    return [*current, *left]


def _undefined(source: str, cache: Path, index: str, pauses: Pauses) -> DestinationStatus:
    """Return the status of an index of a source whose definition cannot be read."""
    folder = queue_folder(cache, index)
    return _status(source, "", index, folder, primary=False, paused=pauses.everything)


def _status(
    source: str, label: str, index: str, folder: Path, *, primary: bool, paused: bool, fed: bool = True
) -> DestinationStatus:
    waiting = []
    text = ""
    for path in folder.glob("*.sealed"):
        with suppress(FileNotFoundError):  # a running crawl removes what it has written meanwhile
            waiting.append(path.stat().st_size)
    with suppress(FileNotFoundError):
        text = (folder / PROBLEM_FILE).read_text(encoding="utf-8", errors="replace").strip()
    return DestinationStatus(source, label, index, primary, paused, len(waiting), sum(waiting), text, fed)


def order_pause(project: Project, source: DataSource, label: str, *, paused: bool) -> str:
    """Pause or resume one destination, or all (empty label); returns a sentence about the effect.

    A running crawl follows within some seconds. For an idle source, resuming writes the waiting segments at once.
    If the definition has mistakes, its next crawl does. Raises `UserError` for an unknown destination, `WorkError` if
    an index cannot be written.
    """
    section, readable = source.feeding, source.name not in project.invalid_sources
    if readable and label and label not in section.destinations:
        known = ", ".join(section.destinations) or "none: it feeds the index of the project alone"
        raise UserError(f"{source.name} has no destination {label!r}; its destinations are {known}")
    defined = section.destinations[label].paused if readable and label else section.paused
    switch = pause_switch(project, source.name)
    switch.set_paused(label, paused=paused, defined=defined if readable else None)
    if running_crawl_status(project, source.name) is not None:
        return "the running crawl pauses it" if paused else "the running crawl resumes it"
    if paused:
        return "later crawls keep it paused"
    return _deliver(project, source) if readable else "the next crawl writes what waits"


def _deliver(project: Project, source: DataSource) -> str:
    """Write the waiting segments of an idle source to its indexes; returns a sentence about the result."""
    if not state_exists(project, source.name):
        return "nothing waits"
    with closing(open_state(project, source.name)) as state, idle_writer(project, source, state):
        pass  # opening the writer writes the waiting segments
    left = sum(status.segments for status in destination_status(project, source) if status.fed)
    if not left:
        return "everything is in the index"
    return "1 batch still waits" if left == 1 else f"{left} batches still wait"
