"""Reports of a robot: status, excluded URLs, servers, and waiting URLs (portal robot 18)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from ultracrawl import __version__
from ultracrawl.agents.file.section import FileSection
from ultracrawl.dataclass import asdict, dataclass, field
from ultracrawl.dialects.portal_robot.service.control import RobotState, robot_machine, robot_state
from ultracrawl.index.project_index import count_documents
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.dates import iso
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores.project_stores import state_to_read

FILES, ERRORS, ROBOTS, DUPLICATION = "file not found", "errors", "robots.txt", "duplication"
_BY_OUTCOME = {
    UrlOutcome.GONE: FILES,
    UrlOutcome.HTTP_ERROR: ERRORS,
    UrlOutcome.NETWORK_ERROR: ERRORS,
    UrlOutcome.FAILED: ERRORS,
    UrlOutcome.ROBOTS: ROBOTS,
    UrlOutcome.DUPLICATE: DUPLICATION,
}
_EXCLUDED = frozenset({*_BY_OUTCOME, UrlOutcome.REJECTED, UrlOutcome.NOT_INDEXED})


@dataclass(frozen=True, slots=True)
class RobotStatus:
    """The numbers of one robot."""

    source: str
    state: RobotState
    starting_points: int | None
    """None if the files of the robot have mistakes."""
    known: int = 0
    waiting: int = 0
    indexed: int = 0
    excluded: int = 0
    pages_per_second: float = 0.0
    """Of the latest run that ended."""
    last_run: Mapping[str, Any] = field(default_factory=dict)
    expired: int = 0
    """Descriptions in the index that have expired; the next run renews or deletes them."""
    next_expiry: float = 0.0
    """When the next one expires, in seconds since the epoch; 0: none does."""
    version: str = __version__
    refreshed: float = 0.0
    """When these numbers were taken, in seconds since the epoch."""
    machine: str = ""
    """The machine on which it runs; empty if it does not."""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `ultracrawl robot status --json`."""
        return {
            **asdict(self),
            "pages_per_second": round(self.pages_per_second, 2),
            "last_run": dict(self.last_run) or None,
            "next_expiry": iso(self.next_expiry),
            "refreshed": iso(self.refreshed),
            "machine": self.machine or None,
        }


def starting_points(project: Project, source: DataSource) -> int:
    """Return the number of starting points of a robot."""
    return len(source.paths if isinstance(source, FileSection) else compile_source(source, project).seeds)


def robot_status(project: Project, robot: str, clock: Callable[[], float] = time.time) -> RobotStatus:
    """Return the status of a robot by its name, running or not, whatever mistakes its files have."""
    state, machine = robot_state(project, robot), robot_machine(project, robot)
    source = project.sources.get(robot)
    starts = None if source is None else starting_points(project, source)
    with state_to_read(project, robot) as store:
        if store is None:
            indexed = count_documents(project, robot)
            return RobotStatus(robot, state, starts, indexed=indexed, refreshed=clock(), machine=machine)
        counts, runs = store.records.count_urls(), store.runs(2)
        excluded = sum(number for outcome, number in counts.outcomes.items() if outcome in _EXCLUDED)
        expiries = store.documents.expiries(clock())
    ended: dict[str, Any] = next((json.loads(run.report) for run in runs if run.report), {})
    seconds = float(ended.get("seconds", 0.0))
    return RobotStatus(
        robot,
        state,
        starts,
        counts.known,
        counts.queued,
        counts.indexed if counts.known else count_documents(project, robot),
        excluded,
        ended.get("fetched", 0) / seconds if seconds else 0.0,
        {name: ended[name] for name in ("run_id", "started", "finished", "fetched") if name in ended},
        expiries.expired,
        expiries.following,
        refreshed=clock(),
        machine=machine,
    )


def reason_of(record: UrlRecord) -> str:
    """Return the group of an excluded URL in the report; empty if it is not excluded."""
    outcome = record.outcome
    if outcome is None or outcome not in _EXCLUDED:
        return ""
    return _BY_OUTCOME.get(outcome) or record.cause.heading


def excluded_urls(project: Project, source: str) -> dict[str, list[UrlRecord]]:
    """Return the excluded URLs by reason, the reason with the most URLs first."""
    groups: dict[str, list[UrlRecord]] = {}
    with state_to_read(project, source) as store:
        for record in store.records.all_records() if store is not None else ():
            if reason := reason_of(record):
                groups.setdefault(reason, []).append(record)
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])))


@dataclass(slots=True)
class FoundServer:
    """A server, and the counts of its URLs."""

    site: str
    known: int = 0
    waiting: int = 0
    indexed: int = 0
    excluded: int = 0


def servers_found(project: Project, source: str) -> list[FoundServer]:
    """Return all servers with known URLs, the one with the most URLs first."""
    servers: dict[str, FoundServer] = {}
    with state_to_read(project, source) as store:
        for record in store.records.all_records() if store is not None else ():
            site = site_of(record.url)
            server = servers.setdefault(site, FoundServer(site))
            server.known += 1
            server.indexed += record.indexed
            server.excluded += record.outcome in _EXCLUDED
        for site, waiting in store.queue.waiting_sites() if store is not None else ():
            servers.setdefault(site, FoundServer(site)).waiting = waiting
    return sorted(servers.values(), key=lambda server: (-server.known, server.site))


def waiting_urls(project: Project, source: str, most: int) -> list[tuple[str, int]]:
    """Return at most `most` queued URLs with their crawl depths, grouped by site, in queue order."""
    found: list[tuple[str, int]] = []
    with state_to_read(project, source) as store:
        for site, _ in store.queue.waiting_sites() if store is not None else ():
            assert store is not None, "it has sites"
            found += [(entry.url, entry.depth) for entry in store.queue.entries_of(site, most - len(found))]
            if len(found) >= most:
                break
    return found
