"""Pauses, resumes and stops crawls in other processes, and waits for the effect."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.errors import StateError, UserError
from ultracrawl.service.approval import approval_of
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores.control_channel import Command, CrawlStatus, Phase, crawl_status, leave_order
from ultracrawl.stores.port.notes import Notes
from ultracrawl.stores.project_stores import open_state, robot_notes, source_notes, state_exists
from ultracrawl.stores.site_orders import SiteAction, SiteOrder, leave_site_order, waits

POLL_INTERVAL = 0.1
"""Seconds between checks whether a command was carried out."""
_TARGET_PHASES = {
    Command.PAUSE: frozenset({Phase.PAUSED}),
    Command.RESUME: frozenset({Phase.RUNNING}),
    Command.STOP: frozenset[Phase](),
    Command.RESTART: frozenset[Phase](),
}
_DONE = {Command.PAUSE: "paused", Command.RESUME: "resumed"}
_ENDING = frozenset({Phase.STOPPING, Phase.FINISHING})


@dataclass(frozen=True, slots=True)
class SteerResult:
    """The result of a command. `obeyed` is False if the crawl ended for another reason, or on timeout."""

    source: str
    command: Command
    obeyed: bool
    state: str
    """The phase of the crawl, or `idle` if it has ended."""
    note: str
    waited: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `ultracrawl pause --json`."""
        row = asdict(self)
        waited = row.pop("waited")
        return {**row, "obeyed": self.obeyed if waited else None}


def running_crawl_status(project: Project, source: str) -> CrawlStatus | None:
    """Return the status of the crawl of a source, in any process; None if the source is not being crawled."""
    return crawl_status(source_notes(project, source))


def readable_status(project: Project, source: str) -> CrawlStatus | None:
    """Return the status of the crawl of a source; None also if it belongs to another user and cannot be read."""
    with suppress(StateError):
        return running_crawl_status(project, source)
    return None


def robot_process_status(project: Project, source: str) -> CrawlStatus | None:
    """Return the status of the robot process of a source, also between runs; None if none is running."""
    return crawl_status(robot_notes(project, source))


def steer(
    project: Project,
    source: str,
    command: Command,
    *,
    timeout: float,
    sleep: Callable[[float], None] = time.sleep,
) -> SteerResult:
    """Send a command to a crawl and wait for its effect, at most `timeout` seconds; 0: do not wait.

    Raises `UserError` if the source is not being crawled.
    """
    notes = source_notes(project, source)
    status = crawl_status(notes)
    if status is None or notes is None:
        raise UserError(f"the source {source!r} is not being crawled, so there is nothing to {command.value}")
    if status.phase in _TARGET_PHASES[command]:
        note = "was paused already" if command is Command.PAUSE else "is not paused"
        return SteerResult(source, command, True, status.phase.value, note)
    if status.phase is Phase.FINISHING or (status.phase is Phase.STOPPING and command is not Command.STOP):
        return SteerResult(source, command, False, status.phase.value, "is ending already")
    leave_order(notes, status, command)
    if not timeout:
        return SteerResult(
            source, command, True, status.phase.value, f"{command.value} requested", waited=False
        )
    return _wait(project, notes, source, command, status, timeout, sleep)


def _wait(
    project: Project,
    notes: Notes,
    source: str,
    command: Command,
    first: CrawlStatus,
    timeout: float,
    sleep: Callable[[float], None],
) -> SteerResult:
    deadline = time.monotonic() + timeout
    status: CrawlStatus | None = first
    while time.monotonic() < deadline:
        status = crawl_status(notes)
        if status is None or status.crawl != first.crawl:
            return _ended(project, source, command)
        if status.phase in _TARGET_PHASES[command]:
            return SteerResult(source, command, True, status.phase.value, _DONE[command])
        if command is not Command.STOP and status.phase in _ENDING:
            return SteerResult(
                source, command, False, status.phase.value, "is ending, and takes no more commands"
            )
        sleep(POLL_INTERVAL)
    assert status is not None
    waiting = f", {status.in_flight} requests are in flight" if status.in_flight else ""
    note = f"{command.value} not carried out within {timeout:g} s{waiting}; it will be as soon as possible"
    return SteerResult(source, command, False, status.phase.value, note)


@dataclass(frozen=True, slots=True)
class SiteOrderResult:
    """What became of an order about URLs or a site of a source."""

    source: str
    action: SiteAction
    place: str
    taken: bool
    """Whether it was carried out, or a crawl follows it; else the next crawl does."""
    deleted: int = 0
    """URLs that were deleted at once, because the source is not being crawled."""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `ultracrawl admin add-uri --json`."""
        return asdict(self)


def order_site(project: Project, source: DataSource, order: SiteOrder, *, timeout: float) -> SiteOrderResult:
    """Leave an order for the crawl of a source, and wait until it is taken; the next crawl takes it if none runs.

    URLs of a source that is not being crawled are deleted at once. Raises `UserError` if the state is in memory,
    `StateError`, `WorkError`.
    """
    name, notes = source.name, source_notes(project, source.name)
    if notes is None:
        raise UserError(f"the state of {name!r} is in memory, so nothing can be ordered")
    running = crawl_status(notes)
    if order.action is SiteAction.DELETE and running is None:
        deleted = _delete_now(project, source, order) if state_exists(project, name) else 0
        return SiteOrderResult(name, order.action, order.place, True, deleted)
    leave_site_order(notes, order, time.time())
    deadline = time.monotonic() + timeout
    while running is not None and time.monotonic() < deadline:
        if not waits(notes, order):
            return SiteOrderResult(name, order.action, order.place, True)
        time.sleep(POLL_INTERVAL)
        running = crawl_status(notes)
    return SiteOrderResult(name, order.action, order.place, not waits(notes, order))


def _delete_now(project: Project, source: DataSource, order: SiteOrder) -> int:
    with approval_of(project, source) as approval:
        policy = compile_source(source, project).url_policy
        selected = order.test(policy.canonical)
        approval.remove_all(selected)
    return approval.report.removed


def _ended(project: Project, source: str, command: Command) -> SteerResult:
    if command is not Command.STOP:
        return SteerResult(source, command, False, "idle", f"ended before it could {command.value}")
    with closing(open_state(project, source, read_only=True)) as state:
        runs = state.runs(1)
    stopped = bool(runs) and not runs[0].finished
    note = "stopped; the next crawl resumes it" if stopped else "ended"
    return SteerResult(source, command, True, "idle", note)
