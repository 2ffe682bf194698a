"""Starts a robot process, reads its state, and sends it commands (portal robot 13.1)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from enum import StrEnum

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.control import POLL_INTERVAL, robot_process_status, running_crawl_status, steer
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command, Phase, leave_order, order_waits
from ultracrawl.stores.project_stores import open_state, remove_state, robot_notes, state_exists
from ultracrawl.system.process_name import is_here


class RobotState(StrEnum):
    """The state of a robot, named as in its console."""

    OFF = "Off"
    RUNNING = "Running"
    IDLE = "Idle"
    PAUSED = "Paused"


OFFERED = {
    RobotState.OFF: ("start", "clear"),
    RobotState.RUNNING: ("stop", "pause", "restart", "reload"),
    RobotState.IDLE: ("stop", "pause", "restart", "reload"),
    RobotState.PAUSED: ("stop", "resume", "restart"),
}
"""The commands allowed in each state."""

_TARGET_STATES = {
    Command.PAUSE: frozenset({RobotState.PAUSED}),
    Command.RESUME: frozenset({RobotState.RUNNING, RobotState.IDLE}),
    Command.STOP: frozenset({RobotState.OFF}),
}
_TAKEN_UP = frozenset({Command.RESTART, Command.RELOAD})
"""Commands after which the robot goes on in whatever state, in another crawl if one was running."""


def robot_state(project: Project, source: str) -> RobotState:
    """Return the state of the robot of a source; a crawl without a robot counts as Running."""
    crawl = running_crawl_status(project, source)
    if crawl is not None:
        return RobotState.PAUSED if crawl.phase is Phase.PAUSED else RobotState.RUNNING
    robot = robot_process_status(project, source)
    if robot is None:
        return RobotState.OFF
    return {Phase.IDLE: RobotState.IDLE, Phase.PAUSED: RobotState.PAUSED}.get(robot.phase, RobotState.RUNNING)


def robot_machine(project: Project, source: str) -> str:
    """Return the machine on which a robot or the crawl of its source runs; empty for none."""
    running = running_crawl_status(project, source) or robot_process_status(project, source)
    return running.machine if running is not None else ""


def require_offered(project: Project, source: str, command: str) -> None:
    """Raise `UserError` for a command that the present state of a robot does not allow."""
    state = robot_state(project, source)
    if command not in OFFERED[state]:
        machine = robot_machine(project, source)
        place = "" if is_here(machine) else f" on {machine}"
        raise UserError(f"the robot is {state}{place}; it accepts {' or '.join(OFFERED[state])}")


def order_robot(
    project: Project,
    source: str,
    command: Command,
    *,
    timeout: float,
    sleep: Callable[[float], None] = time.sleep,
) -> RobotState:
    """Send a command to the robot of a source, wait for its effect, and return the state.

    Without a robot the command goes to the crawl of the source. Raises `UserError` if the state does not allow the
    command, `WorkError` on timeout.
    """
    require_offered(project, source, command.value)
    robot, notes = robot_process_status(project, source), robot_notes(project, source)
    if robot is None or notes is None:
        if command in _TAKEN_UP:
            raise UserError(f"{source!r} is being crawled without a robot; stop it, then start the robot")
        steer(project, source, command, timeout=timeout, sleep=sleep)
        return robot_state(project, source)
    before = running_crawl_status(project, source)
    leave_order(notes, robot, command)
    if not timeout:
        return robot_state(project, source)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        state = robot_state(project, source)
        if command in _TAKEN_UP:
            now = running_crawl_status(project, source)
            if not order_waits(notes) and (before is None or now is None or now.crawl != before.crawl):
                return state
        elif state in _TARGET_STATES[command] or _is_over(state, command):
            return state
        sleep(POLL_INTERVAL)
    raise WorkError(
        f"the robot has not carried out the command within {timeout:g} s; it will as soon as possible"
    )


def _is_over(state: RobotState, command: Command) -> bool:
    """Return whether the robot has ended since the command. Raises `WorkError` if it was to pause."""
    if state is RobotState.OFF and command is Command.PAUSE:
        raise WorkError("the robot ended before it could pause")
    return state is RobotState.OFF


def start_in_background(words: Sequence[str], project: Project, source: str, *, timeout: float) -> int:
    """Start `ultracrawl WORDS` as a background process, wait until its robot runs, and return the process id.

    Raises `WorkError` with its error output if it failed before that.
    """
    with tempfile.TemporaryFile() as error_output:
        process = subprocess.Popen(
            [sys.executable, "-m", "ultracrawl", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=error_output,
            start_new_session=True,
        )
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            status = robot_process_status(project, source)
            if status is not None and status.pid == process.pid:
                return process.pid
            if process.poll() is not None:
                error_output.seek(0)
                text = error_output.read().decode("utf-8", "replace").strip()
                if process.returncode == 0:
                    return process.pid  # it had nothing to do
                raise WorkError(f"the robot did not start: {text}")
            time.sleep(POLL_INTERVAL)
    raise WorkError(f"the robot did not start within {timeout:g} s")


def clear_robot(project: Project, source: str) -> int:
    """Delete the state of a source (document table, queue and all else); returns the number of known URLs.

    The index and the document cache stay. Raises `UserError` unless the robot is off.
    """
    require_offered(project, source, "clear")
    if not state_exists(project, source):
        return 0
    state = open_state(project, source)  # keeps the source locked until the files are deleted
    known = state.records.count_urls().known
    remove_state(project, source)
    state.close()
    return known
