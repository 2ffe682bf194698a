"""Deletes what a robot knows of URLs (portal robot 17)."""

from __future__ import annotations

from ultracrawl.service.robot.control import require_offered, robot_state
from ultracrawl.sources import Project
from ultracrawl.stores.opening import open_state, state_file


def clear_robot(project: Project, source: str) -> int:
    """Delete the document table, the queue and everything else that was remembered; returns how many URLs were known.

    What is in the index stays there, and so does what is on its way to it. Raises `UserError` unless the robot
    is off.
    """
    require_offered(robot_state(project, source), "clear")
    file = state_file(project, source)
    if file is None or not file.exists():
        return 0
    state = open_state(project, source)  # it holds the lock of the source until the file is gone
    known = state.records.count_urls().known
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    state.close()
    return known
