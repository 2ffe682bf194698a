"""The status of a source as `status --json` reports it: its holdings, its last run, and its present crawl."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache, partial
from typing import Any

from ultracrawl.model.dates import as_text
from ultracrawl.run.traps.recognition import known_traps
from ultracrawl.service.control import readable_status
from ultracrawl.service.destinations import DestinationStatus, destination_status
from ultracrawl.service.metrics.holdings import Holdings, failure_after, read_holdings
from ultracrawl.service.schedules.schedule_status import SourceTimes
from ultracrawl.sources import DataSource, Project


@contextmanager
def reading_status(
    project: Project, read: Callable[[Project, str], Holdings] = read_holdings
) -> Iterator[Callable[[DataSource], dict[str, Any]]]:
    """Yield what `source_status` does for any source of a project; what all of them share is read once."""
    holdings_of = cache(partial(read, project))
    with closing(SourceTimes(project, lambda name: holdings_of(name).latest)) as times:
        yield lambda source: _whole_status(project, source, holdings_of(source.name), times)


def source_status(
    project: Project, source: DataSource, read: Callable[[Project, str], Holdings] = read_holdings
) -> dict[str, Any]:
    """Return the status of a source; `status_json` converts the objects in `feeding` and `traps`."""
    with reading_status(project, read) as status_of:
        return status_of(source)


def _whole_status(
    project: Project, source: DataSource, holdings: Holdings, times: SourceTimes
) -> dict[str, Any]:
    due, waits = times.due_of(source.name), times.waits_for_slot(source.name)
    live = _live(project, _status(project, source.name, holdings), waits=waits)
    left = times.lease_left(source.name, live["machine"] or "")
    return {
        **live,
        "feeding": _destinations(project, source),
        "traps": known_traps(project, source),
        "next_run": None if due.at is None or (live["pid"] and due.at <= time.time()) else as_text(due.at),
        "due_by": due.by,
        "never_due": due.never or None,
        "schedule": project.schedule_of(source.name) or None,
        "kept": times.is_kept(source.name),
        "nodes": times.nodes_of(source.name),
        "waits": waits,
        "lease_ends": None if left is None else as_text(time.time() + left),
        "profile": project.profile_of(source.name) or None,
        "node": project.node_of(source.name) or None,
    }


def status_json(row: dict[str, Any]) -> dict[str, Any]:
    """Return the result of `source_status` as the JSON object of `ultracrawl status --json`."""
    return {**row, **{name: [one.as_json() for one in row[name]] for name in ("feeding", "traps")}}


def _status(project: Project, name: str, holdings: Holdings) -> dict[str, Any]:
    mistaken, latest = project.invalid_sources.get(name), holdings.latest
    row: dict[str, Any] = {
        "source": name,
        "state": _state(holdings),
        **holdings.numbers,
        "outcomes": dict(sorted(holdings.outcomes.items())),
        "last_run": None,
        "failure": None,
        "mistakes": [str(finding) for finding in mistaken.findings] if mistaken else [],
    }
    if holdings.problem:
        return {**row, "failure": {"time": None, "problem": holdings.problem}}
    if latest is not None:
        row["last_run"] = json.loads(latest.report) if latest.report else {"run_id": str(latest.number)}
    note = failure_after(project, name, latest)
    if note is not None:
        row["state"], row["failure"] = "failed", {"time": as_text(note.at), "problem": note.problem}
    return row


def _state(holdings: Holdings) -> str:
    """Return the state of a source that is not being crawled."""
    if holdings.problem:
        return "unreadable"
    if holdings.counts is None or holdings.latest is None:
        return "never crawled"
    if not holdings.latest.finished:
        return "unfinished"
    return "indexing pending" if holdings.counts.pending else "idle"


def _destinations(project: Project, source: DataSource) -> list[DestinationStatus]:
    """Return the destinations of a source; none if it has only the index of the project and nothing waits for it."""
    rows = destination_status(project, source)
    is_notable = any(row.destination or row.paused or row.segments or row.problem for row in rows)
    return rows if len(rows) > 1 or is_notable else []


def _live(project: Project, row: dict[str, Any], *, waits: bool) -> dict[str, Any]:
    """Set the state of a source that is being crawled to the phase of its crawl; one that waits for a slot waits."""
    status = readable_status(project, row["source"])
    if status is None:
        state = "waiting" if waits else row["state"]
        return {**row, "state": state, "pid": None, "machine": None, "waits_for": None}
    live = {"state": status.phase.value, "pid": status.pid, "machine": status.machine or None}
    return {**row, **live, "waits_for": status.wait and status.wait.as_json()}
