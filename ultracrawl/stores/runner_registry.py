"""The registry of processes that run schedules: a note of each, which lasts as long as the process."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes
from ultracrawl.system.process_name import machine_name, process_name

_RUNNER = ".runner"


@dataclass(frozen=True, slots=True)
class RunnerStatus:
    """A process that runs schedules, and crawls sources at their own interval."""

    pid: int
    number: str
    """Tells registrations of one process apart."""
    schedules: frozenset[str]
    sources: frozenset[str]
    waiting: frozenset[str] = frozenset()
    """Sources whose crawls wait for a free job slot."""
    node: str = ""
    """The node that it is; nodes know by their leases who runs what."""
    machine: str = ""
    """The machine of the process; empty if that is not known."""

    @property
    def note(self) -> str:
        """The name of its note."""
        return f"{self.pid}-{self.number}{_RUNNER}"

    @property
    def process(self) -> str:
        """How the process is named to people."""
        return process_name(self.pid, self.machine)


class RunnerRegistration:
    """The entry of this process, which ends with `close` or with the process."""

    def __init__(self, notes: Notes, node: str = "") -> None:
        """Register this process in the notes of the service. Raises `StateError`."""
        self._notes, self._node = notes, node
        self.number = secrets.token_hex(4)
        """Tells it apart from all others."""
        self._published: dict[str, Any] = {
            "pid": os.getpid(),
            "machine": machine_name(),
            "number": self.number,
            "node": node,
        }
        name = f"{os.getpid()}-{self.number}{_RUNNER}"
        self._presence = notes.appear(name, json.dumps(self._published).encode())

    def claim(self, schedules: Collection[str], sources: Collection[str]) -> RunnerStatus | None:
        """Claim schedules and sources for this process; returns the process that has one of them already, if any."""
        with self._notes.locked():
            for other in active_runners(self._notes):
                of_nodes = bool(self._node and other.node)
                if not (other.number == self.number or of_nodes) and not (
                    other.schedules.isdisjoint(schedules) and other.sources.isdisjoint(sources)
                ):
                    return other
            self._publish(schedules=sorted(schedules), sources=sorted(sources))
        return None

    def publish_waiting(self, sources: Collection[str]) -> None:
        """Publish the sources whose crawls wait for a free job slot."""
        with suppress(StateError):  # for display only
            self._publish(waiting=sorted(sources))

    def _publish(self, **changed: list[str]) -> None:
        if not changed.items() <= self._published.items():
            self._published |= changed
            self._presence.publish(json.dumps(self._published).encode())

    def close(self) -> None:
        """Remove the entry."""
        self._presence.close()


def active_runners(notes: Notes | None) -> list[RunnerStatus]:
    """Return the live processes that run schedules. Raises `StateError`."""
    texts = notes.all_present(_RUNNER) if notes is not None else ()
    return [runner for text in texts if (runner := _parsed(text)) is not None]


def _parsed(text: bytes) -> RunnerStatus | None:
    try:
        entry: dict[str, Any] = json.loads(text)
        schedules, sources, waiting = (
            frozenset[str](entry.get(key, ())) for key in ("schedules", "sources", "waiting")
        )
        number, node, machine = (str(entry.get(key, "")) for key in ("number", "node", "machine"))
        return RunnerStatus(int(entry["pid"]), number, schedules, sources, waiting, node, machine)
    except (ValueError, KeyError, TypeError):
        return None  # the process has just started, and has claimed nothing yet
