"""Starts a robot as a process of its own, reads its state, and gives it orders (portal robot 13.1)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from enum import StrEnum

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.control import POLL_INTERVAL, robot_sign, running_crawl, steer
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command, Phase, leave_order, order_path
from ultracrawl.stores.opening import open_state, remove_state, robot_file, state_exists


class RobotState(StrEnum):
    """What a robot is doing, in the words of its console."""

    OFF = "Off"
    RUNNING = "Running"
    IDLE = "Idle"
    PAUSED = "Paused"


OFFERED = {
    RobotState.OFF: ("start", "clear"),
    RobotState.RUNNING: ("stop", "pause", "restart"),
    RobotState.IDLE: ("stop", "pause", "restart"),
    RobotState.PAUSED: ("stop", "resume", "restart"),
}
"""The commands that each state takes."""

_WANTED = {
    Command.PAUSE: frozenset({RobotState.PAUSED}),
    Command.RESUME: frozenset({RobotState.RUNNING, RobotState.IDLE}),
    Command.STOP: frozenset({RobotState.OFF}),
}


def robot_state(project: Project, source: str) -> RobotState:
    """Return what the robot of a source is doing; a plain crawl of the source counts as Running."""
    crawl = running_crawl(project, source)
    if crawl is not None:
        return RobotState.PAUSED if crawl.phase is Phase.PAUSED else RobotState.RUNNING
    robot = robot_sign(project, source)
    if robot is None:
        return RobotState.OFF
    return {Phase.IDLE: RobotState.IDLE, Phase.PAUSED: RobotState.PAUSED}.get(robot.phase, RobotState.RUNNING)


def require_offered(state: RobotState, command: str) -> None:
    """Raise `UserError` for a command that a state does not take."""
    if command not in OFFERED[state]:
        raise UserError(f"the robot is {state}; it can be told to {' or '.join(OFFERED[state])}")


def order_robot(
    project: Project,
    source: str,
    command: Command,
    *,
    timeout: float,
    sleep: Callable[[float], None] = time.sleep,
) -> RobotState:
    """Tell the robot of a source what to do and wait until it has obeyed; return the state that it is in.

    A plain crawl is told in its place if there is no robot. Raises `UserError` if its state does not take the
    command, `WorkError` if it has not obeyed in time.
    """
    require_offered(robot_state(project, source), command.value)
    robot, file = robot_sign(project, source), robot_file(project, source)
    if robot is None or file is None:
        if command is Command.RESTART:
            raise UserError(f"{source!r} is being crawled without a robot; stop it, then start the robot")
        steer(project, source, command, timeout=timeout, sleep=sleep)
        return robot_state(project, source)
    before = running_crawl(project, source)
    leave_order(file, robot, command)
    if not timeout:
        return robot_state(project, source)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        state = robot_state(project, source)
        if command is Command.RESTART:
            now = running_crawl(project, source)
            if not order_path(file).exists() and (before is None or now is None or now.crawl != before.crawl):
                return state
        elif state in _WANTED[command] or _is_over(state, command):
            return state
        sleep(POLL_INTERVAL)
    raise WorkError(f"the robot has not done it within {timeout:g} s; it will as soon as it can")


def _is_over(state: RobotState, command: Command) -> bool:
    """Return whether a robot that was told to go on has done so, and ended since.

    Raises `WorkError` if it ended instead of pausing.
    """
    if state is RobotState.OFF and command is Command.PAUSE:
        raise WorkError("the robot ended before it could pause")
    return state is RobotState.OFF


def start_in_background(words: Sequence[str], project: Project, source: str, *, timeout: float) -> int:
    """Start `ultracrawl WORDS` as a process of its own, and wait until its robot is there; return its number.

    Raises `WorkError` with what it said if it ended before that.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "ultracrawl", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            sign = robot_sign(project, source)
            if sign is not None and sign.pid == process.pid:
                return process.pid
            if process.poll() is not None:
                said.seek(0)
                told = said.read().decode("utf-8", "replace").strip()
                if process.returncode == 0:
                    return process.pid  # it had nothing to do, and is done
                raise WorkError(f"the robot did not start: {told}")
            time.sleep(POLL_INTERVAL)
    raise WorkError(f"the robot did not start within {timeout:g} s")


def clear_robot(project: Project, source: str) -> int:
    """Delete the document table, the queue and everything else that was remembered; returns how many URLs were known.

    What is in the index stays there, and so does what is on its way to it. Raises `UserError` unless the robot
    is off.
    """
    require_offered(robot_state(project, source), "clear")
    if not state_exists(project, source):
        return 0
    state = open_state(project, source)  # it holds the lock of the source until the store is gone
    known = state.records.count_urls().known
    remove_state(project, source)
    state.close()
    return known
