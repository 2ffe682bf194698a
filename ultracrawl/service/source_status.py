"""What a source holds, how its last run went, and whether it is being crawled: the shape of `status --json`."""

from __future__ import annotations

import json
from typing import Any

from ultracrawl.errors import StateError
from ultracrawl.model.dates import as_text
from ultracrawl.service.control import readable_sign
from ultracrawl.service.destinations import DestinationStatus, destination_status
from ultracrawl.service.schedules.looking import next_run_of, runner_of, waits_for_place
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores import RunMark
from ultracrawl.stores.failure_note import failure_note
from ultracrawl.stores.opening import state_file, state_to_read


def source_status(project: Project, source: DataSource) -> dict[str, Any]:
    """Return how a source stands; its `feeding` are values that still become JSON."""
    due = next_run_of(project, source.name)
    return {
        **_live(project, _status(project, source.name)),
        "feeding": _destinations(project, source),
        "next_run": None if due is None else as_text(due),
        "schedule": project.schedule_of(source.name) or None,
        "kept": runner_of(project, source.name, of_source=True) is not None,
        "waits": waits_for_place(project, source.name),
    }


def status_json(row: dict[str, Any]) -> dict[str, Any]:
    """Return what `source_status` gave in the shape of `ultracrawl status --json`."""
    return {**row, "feeding": [one.as_json() for one in row["feeding"]]}


def _status(project: Project, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "source": name,
        "state": "never crawled",
        "known": 0,
        "queued": 0,
        "indexed": 0,
        "pending": 0,
        "leaving": 0,
        "outcomes": {},
        "last_run": None,
        "failure": None,
        "mistakes": [str(one) for one in mistaken.findings]
        if (mistaken := project.mistaken.get(name))
        else [],
    }
    try:
        latest = _read_state(project, name, row)
    except StateError as error:
        return {**row, "state": "unreadable", "failure": {"time": None, "problem": str(error)}}
    file = state_file(project, name)
    note = failure_note(file) if file is not None else None
    if note is not None and (latest is None or note.at > latest.finished):
        row["state"], row["failure"] = "failed", {"time": as_text(note.at), "problem": note.problem}
    return row


def _read_state(project: Project, name: str, row: dict[str, Any]) -> RunMark | None:
    """Put what the state of a source says into its row; returns its latest run. Raises `StateError`."""
    with state_to_read(project, name) as state:
        if state is None:
            return None
        counts, latest = state.records.count_urls(), next(iter(state.runs(1)), None)
    row.update(known=counts.known, queued=counts.queued, indexed=counts.indexed, pending=counts.pending)
    row["leaving"] = counts.removals
    row["outcomes"] = {outcome.value: number for outcome, number in sorted(counts.outcomes.items())}
    if latest is not None:
        row["last_run"] = json.loads(latest.report) if latest.report else {"run_id": str(latest.number)}
        ended = "indexing pending" if counts.pending else "idle"
        row["state"] = ended if latest.finished else "unfinished"
    return latest


def _destinations(project: Project, source: DataSource) -> list[DestinationStatus]:
    """Return the destinations of a source; none where there is only the index of the project and nothing waits."""
    rows = destination_status(project, source)
    worth = len(rows) > 1 or any(one.destination or one.paused or one.segments or one.problem for one in rows)
    return rows if worth else []


def _live(project: Project, row: dict[str, Any]) -> dict[str, Any]:
    """Replace the state of a source that is being crawled by the phase of its crawl."""
    sign = readable_sign(project, row["source"])
    return {**row, "state": sign.phase.value, "pid": sign.pid} if sign else {**row, "pid": None}
