"""Tells a crawl that runs in another process to pause, to go on or to stop, and waits until it has obeyed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from typing import Any

from ultracrawl.errors import StateError, UserError
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command, CrawlStatus, Phase, crawl_status, leave_order
from ultracrawl.stores.opening import open_state, robot_file, state_file

POLL = 0.1
"""Seconds between two looks whether a crawl has obeyed."""
_WANTED = {
    Command.PAUSE: frozenset({Phase.PAUSED}),
    Command.RESUME: frozenset({Phase.RUNNING}),
    Command.STOP: frozenset[Phase](),
    Command.RESTART: frozenset[Phase](),
}
_DONE = {Command.PAUSE: "paused", Command.RESUME: "goes on"}
_ENDING = frozenset({Phase.STOPPING, Phase.FINISHING})


@dataclass(frozen=True, slots=True)
class Steered:
    """What became of an order. `obeyed` is False if the crawl ended otherwise, or the time was not enough."""

    source: str
    command: Command
    obeyed: bool
    state: str
    """The phase of the crawl, or `idle` when there is none any more."""
    note: str
    waited: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `ultracrawl pause --json`."""
        row = asdict(self)
        waited = row.pop("waited")
        return {**row, "obeyed": self.obeyed if waited else None}


def running_crawl(project: Project, source: str) -> CrawlStatus | None:
    """Return the sign of the crawl of a source, whoever started it; None if the source is not being crawled."""
    file = state_file(project, source)
    return crawl_status(file) if file is not None else None


def readable_sign(project: Project, source: str) -> CrawlStatus | None:
    """Return the sign of the crawl of a source, None also for that of another user, which may not be looked at."""
    with suppress(StateError):
        return running_crawl(project, source)
    return None


def robot_sign(project: Project, source: str) -> CrawlStatus | None:
    """Return the sign of the robot of a source, between its runs too; None if there is none."""
    file = robot_file(project, source)
    return crawl_status(file) if file is not None else None


def steer(
    project: Project,
    source: str,
    command: Command,
    *,
    timeout: float,
    sleep: Callable[[float], None] = time.sleep,
) -> Steered:
    """Give an order and wait until it is carried out, at most `timeout` seconds; with 0 do not wait at all.

    Raises `UserError` if the source is not being crawled.
    """
    sign, file = running_crawl(project, source), state_file(project, source)
    if sign is None or file is None:
        raise UserError(f"the source {source!r} is not being crawled, so there is nothing to {command.value}")
    if sign.phase in _WANTED[command]:
        note = "was paused already" if command is Command.PAUSE else "is not paused"
        return Steered(source, command, True, sign.phase.value, note)
    if sign.phase is Phase.FINISHING or (sign.phase is Phase.STOPPING and command is not Command.STOP):
        return Steered(source, command, False, sign.phase.value, "is ending already")
    leave_order(file, sign, command)
    if not timeout:
        return Steered(source, command, True, sign.phase.value, f"was told to {command.value}", waited=False)
    return _wait(project, source, command, sign, timeout, sleep)


def _wait(
    project: Project,
    source: str,
    command: Command,
    first: CrawlStatus,
    timeout: float,
    sleep: Callable[[float], None],
) -> Steered:
    deadline = time.monotonic() + timeout
    sign: CrawlStatus | None = first
    while time.monotonic() < deadline:
        sign = running_crawl(project, source)
        if sign is None or sign.crawl != first.crawl:
            return _ended(project, source, command)
        if sign.phase in _WANTED[command]:
            return Steered(source, command, True, sign.phase.value, _DONE[command])
        if command is not Command.STOP and sign.phase in _ENDING:
            return Steered(source, command, False, sign.phase.value, "ends, and cannot be told anything more")
        sleep(POLL)
    assert sign is not None
    waiting = f", {sign.in_flight} requests are in flight" if sign.in_flight else ""
    note = f"has not done it within {timeout:g} s{waiting}; it will as soon as it can"
    return Steered(source, command, False, sign.phase.value, note)


def _ended(project: Project, source: str, command: Command) -> Steered:
    if command is not Command.STOP:
        return Steered(source, command, False, "idle", f"ended before it could {command.value}")
    with closing(open_state(project, source, read_only=True)) as state:
        runs = state.runs(1)
    stopped = bool(runs) and not runs[0].finished
    note = "stopped; the next crawl goes on with what waits" if stopped else "ended"
    return Steered(source, command, True, "idle", note)
