"""Kills crawls of a source that is listed, some while it is listed and some while its documents are fetched."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import NamedTuple

from support.project import Workspace, kill_group


class Progress(NamedTuple):
    """How far the latest run came."""

    listing: str = ""
    fetched: float = 0.0

    @property
    def is_listed(self) -> bool:
        """Whether the listing is at its end."""
        return '"whole": true' in self.listing


def progress(workspace: Workspace) -> Progress:
    """Return how far the latest run came, as its store says."""
    for file in (workspace.directory / "var" / "state").glob("*.sqlite"):
        with closing(sqlite3.connect(file, timeout=30)) as state, suppress(sqlite3.OperationalError):
            (noted,) = state.execute("SELECT state FROM listing ORDER BY run DESC LIMIT 1").fetchone() or (
                "",
            )
            (fetched,) = state.execute("SELECT max(last_fetched) FROM url").fetchone()
            return Progress(noted, fetched or 0.0)
    return Progress()


def shake(
    workspace: Workspace, change: Callable[[], object], kills: int, dice: random.Random
) -> dict[str, int]:
    """Change the source and kill crawls, until so many were hit while they listed, and so many while they fetched."""
    hit = {"listing": 0, "fetching": 0}
    for _ in range(kills * 8):
        if min(hit.values()) >= kills:
            break
        change()
        wanted, before = min(hit, key=lambda one: hit[one]), progress(workspace)
        process = workspace.start("crawl", "--json", hosted=False)
        while process.poll() is None:
            now = progress(workspace)
            moved = now.listing != before.listing and not now.is_listed
            if moved if wanted == "listing" else now.is_listed and now.fetched > before.fetched:
                break
            time.sleep(0.005)
        try:
            process.wait(timeout=dice.random() * 0.1)
            process.communicate()
        except subprocess.TimeoutExpired:
            hit[wanted] += 1
            kill_group(process)
    return hit
