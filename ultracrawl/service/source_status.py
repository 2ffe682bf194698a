"""What a source holds, how its last run went, and whether it is being crawled: the shape of `status --json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ultracrawl.model.dates import as_text
from ultracrawl.service.control import readable_sign
from ultracrawl.service.destinations import DestinationStatus, destination_status
from ultracrawl.service.metrics.holdings import Holdings, failure_after, read_holdings
from ultracrawl.service.schedules.looking import next_run_of, runner_of, waits_for_place
from ultracrawl.sources import DataSource, Project


def source_status(
    project: Project, source: DataSource, read: Callable[[Project, str], Holdings] = read_holdings
) -> dict[str, Any]:
    """Return how a source stands; its `feeding` are values that still become JSON."""
    due = next_run_of(project, source.name)
    return {
        **_live(project, _status(project, source.name, read(project, source.name))),
        "feeding": _destinations(project, source),
        "next_run": None if due is None else as_text(due),
        "schedule": project.schedule_of(source.name) or None,
        "kept": runner_of(project, source.name, of_source=True) is not None,
        "waits": waits_for_place(project, source.name),
        "profile": project.profile_of(source.name) or None,
    }


def status_json(row: dict[str, Any]) -> dict[str, Any]:
    """Return what `source_status` gave in the shape of `ultracrawl status --json`."""
    return {**row, "feeding": [one.as_json() for one in row["feeding"]]}


def _status(project: Project, name: str, held: Holdings) -> dict[str, Any]:
    mistaken, latest = project.invalid_sources.get(name), held.latest
    row: dict[str, Any] = {
        "source": name,
        "state": _state(held),
        **held.numbers,
        "outcomes": dict(sorted(held.outcomes.items())),
        "last_run": None,
        "failure": None,
        "mistakes": [str(one) for one in mistaken.findings] if mistaken else [],
    }
    if held.problem:
        return {**row, "failure": {"time": None, "problem": held.problem}}
    if latest is not None:
        row["last_run"] = json.loads(latest.report) if latest.report else {"run_id": str(latest.number)}
    note = failure_after(project, name, latest)
    if note is not None:
        row["state"], row["failure"] = "failed", {"time": as_text(note.at), "problem": note.problem}
    return row


def _state(held: Holdings) -> str:
    """Return how a source stands that is not being crawled."""
    if held.problem:
        return "unreadable"
    if held.counts is None or held.latest is None:
        return "never crawled"
    if not held.latest.finished:
        return "unfinished"
    return "indexing pending" if held.counts.pending else "idle"


def _destinations(project: Project, source: DataSource) -> list[DestinationStatus]:
    """Return the destinations of a source; none where there is only the index of the project and nothing waits."""
    rows = destination_status(project, source)
    worth = len(rows) > 1 or any(one.destination or one.paused or one.segments or one.problem for one in rows)
    return rows if worth else []


def _live(project: Project, row: dict[str, Any]) -> dict[str, Any]:
    """Replace the state of a source that is being crawled by the phase of its crawl."""
    sign = readable_sign(project, row["source"])
    return {**row, "state": sign.phase.value, "pid": sign.pid} if sign else {**row, "pid": None}
