"""Pauses and resumes what goes from sources to indexes, running or idle, and tells how far each index is behind."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ultracrawl.crawl.writing.opening import idle_writer
from ultracrawl.crawl.writing.pauses import Pauses
from ultracrawl.errors import UserError
from ultracrawl.index.writing.destination_queue import PROBLEM_FILE
from ultracrawl.index.writing.destination_queues import queue_folder
from ultracrawl.index.writing.opening import cache_folder, former_indexes, pause_switch
from ultracrawl.service.control import running_crawl
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.stores.opening import open_state, state_exists


@dataclass(frozen=True, slots=True)
class DestinationStatus:
    """How one index of a source stands."""

    source: str
    destination: str
    """The label of the definition; empty where there is the index of the project alone."""
    index: str
    primary: bool
    paused: bool
    segments: int
    """Batches of changes that wait."""
    bytes: int
    problem: str
    """Why the index could not be written the last time; empty if it could."""
    fed: bool = True
    """False for an index that the definition names no more."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `ultracrawl feeding status --json`."""
        return asdict(self)


def destination_status(project: Project, source: DataSource) -> list[DestinationStatus]:
    """Return how the indexes of a source stand, the primary one first, former ones last."""
    cache, pauses = (
        cache_folder(project, source.name),
        Pauses(source.feeding, pause_switch(project, source.name)),
    )
    pauses.changed(0.0)
    places = [(place.label, place.index) for place in source.feeding.in_order] or [("", PROJECT_INDEX)]
    alone = [index for _, index in places] == [PROJECT_INDEX]
    found = [
        _status(
            source.name,
            label,
            index,
            cache if alone else queue_folder(cache, index),
            primary=number == 0,
            paused=pauses.of(label),
        )
        for number, (label, index) in enumerate(places)
    ]
    former = [
        _status(source.name, "", index, queue_folder(cache, index), primary=False, paused=True, fed=False)
        for index in former_indexes(project, source)
    ]
    return [*found, *former]


def _status(
    source: str, label: str, index: str, folder: Path, *, primary: bool, paused: bool, fed: bool = True
) -> DestinationStatus:
    waiting = [path.stat().st_size for path in folder.glob("*.sealed")]
    problem = folder / PROBLEM_FILE
    text = problem.read_text(encoding="utf-8", errors="replace").strip() if problem.exists() else ""
    return DestinationStatus(source, label, index, primary, paused, len(waiting), sum(waiting), text, fed)


def order_pause(project: Project, source: DataSource, label: str, *, paused: bool) -> str:
    """Pause or resume feeding of one destination, or of all (empty label), and return what happened.

    A running crawl obeys within some seconds. What waits for an idle source goes to its indexes at once. Raises
    `UserError` for an unknown destination, `WorkError` if an index cannot be written.
    """
    section = source.feeding
    if label and label not in section.destinations:
        known = ", ".join(section.destinations) or "none: it feeds the index of the project alone"
        raise UserError(f"{source.name} has no destination {label!r}; its destinations are {known}")
    defined = section.destinations[label].paused if label else section.paused
    pause_switch(project, source.name).set_paused(label, paused=paused, defined=defined)
    if running_crawl(project, source.name) is not None:
        return "the running crawl pauses it" if paused else "the running crawl resumes it"
    if paused:
        return "later crawls keep it paused"
    return _deliver(project, source)


def _deliver(project: Project, source: DataSource) -> str:
    """Hand over what waits for the indexes of a source that is not crawled."""
    if not state_exists(project, source.name):
        return "nothing waits"
    with closing(open_state(project, source.name)) as state, idle_writer(project, source, state):
        pass  # what waits is taken up by opening it
    left = sum(one.segments for one in destination_status(project, source) if one.fed)
    if not left:
        return "everything is in the index"
    return "1 batch still waits" if left == 1 else f"{left} batches still wait"
