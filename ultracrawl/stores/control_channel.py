"""The control of a running crawl: other processes read its status and send it commands, by notes and without a port."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import NamedTuple

from ultracrawl.dataclass import asdict, dataclass, replace
from ultracrawl.errors import StateError
from ultracrawl.model.dates import as_text
from ultracrawl.stores.port.notes import Notes, always
from ultracrawl.system.process_name import machine_name, process_name


class Phase(StrEnum):
    """Phase of a running crawl (portal robot 13.1); a source without a crawl is idle."""

    RUNNING = "running"
    PAUSING = "pausing"
    """No requests are sent, and some are still in flight."""
    PAUSED = "paused"
    STOPPING = "stopping"
    FINISHING = "finishing"
    """Nothing is left to fetch; the last documents are being indexed."""
    IDLE = "idle"
    """A robot whose run is over, and that waits for a command."""


class Command(StrEnum):
    """A command for a running crawl."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RESTART = "restart"
    """Start a new run; only for robots, whose processes outlive their runs."""
    RELOAD = "reload"
    """Read the definition again, and go on with it; only for robots."""


class SiteWait(NamedTuple):
    """What a crawl waits for that can request nothing else meanwhile."""

    site: str
    why: str
    until: float
    """When the site is requested again (seconds since 1970)."""

    def __str__(self) -> str:
        return f"waits for {self.site} until {as_text(self.until)}: {self.why}"

    def as_json(self) -> dict[str, str]:
        """Return it in the shape of `ultracrawl status --json`."""
        return {"site": self.site, "why": self.why, "until": as_text(self.until)}


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """The published status of a running crawl. `crawl` is its unique id among all crawls of the source."""

    crawl: str
    pid: int
    phase: Phase = Phase.RUNNING
    in_flight: int = 0
    """Requests in flight, while it is pausing or stopping."""
    machine: str = ""
    """The machine of the process; empty if that is not known."""
    wait: SiteWait | None = None

    @property
    def process(self) -> str:
        """How the process is named to people."""
        return process_name(self.pid, self.machine)


_STATUS, _ORDER = "crawl", "order"


class ControlChannel:
    """The crawl's side: publishes the status and takes orders. The caller holds the source, so there is only one.

    An order names its crawl, so that an order for a crawl that died is not taken by the next one. Raises `StateError`
    if nothing can be published.
    """

    def __init__(self, notes: Notes, lives: Callable[[], bool] = always) -> None:
        """`lives` returns whether the crawl still does something; see `Notes.appear`."""
        self._status = CrawlStatus(secrets.token_hex(8), os.getpid(), machine=machine_name())
        self._presence = notes.appear(_STATUS, _text_of(self._status), lives)
        self._notes = notes
        notes.delete(_ORDER)

    @property
    def phase(self) -> Phase:
        """The last published phase."""
        return self._status.phase

    def publish_phase(self, phase: Phase, in_flight: int = 0) -> None:
        """Publish the phase of the crawl. If the disk is full, the old status stays and the crawl goes on."""
        self._status = replace(self._status, phase=phase, in_flight=in_flight)
        with suppress(StateError):
            self._presence.publish(_text_of(self._status))

    def publish_wait(self, wait: SiteWait | None) -> None:
        """Publish what the crawl waits for, if that has changed."""
        if wait != self._status.wait:
            self._status = replace(self._status, wait=wait)
            self.publish_phase(self._status.phase, self._status.in_flight)

    def pop_order(self) -> Command | None:
        """Remove and return the order for this crawl, if any."""
        text = self._presence.take_note(_ORDER)
        try:
            match json.loads(text or "null"):
                case {"crawl": self._status.crawl, "command": str(command)}:
                    return Command(command)
        except ValueError:
            pass
        return None

    def close(self) -> None:
        """Remove the status and an order not taken: the source is no longer being crawled."""
        with suppress(StateError):
            self._notes.delete(_ORDER)
        self._presence.close()


def _text_of(status: CrawlStatus) -> bytes:
    return json.dumps(asdict(status)).encode()


def crawl_status(notes: Notes | None) -> CrawlStatus | None:
    """Return the status of the crawl of the source whose notes these are, None if none runs. Raises `StateError`."""
    text = notes.present(_STATUS) if notes is not None else None
    if text is None:
        return None
    try:
        status = json.loads(text)
        return CrawlStatus(
            str(status["crawl"]),
            int(status["pid"]),
            Phase(status["phase"]),
            int(status["in_flight"]),
            str(status.get("machine", "")),
            SiteWait(*status["wait"]) if status.get("wait") else None,
        )
    except (ValueError, KeyError, TypeError):
        return CrawlStatus("", 0)


def crawl_lease_left(notes: Notes | None) -> float | None:
    """Return for how many seconds more the crawl of the source counts as running; see `Notes.lease_left`."""
    return notes.lease_left(_STATUS) if notes is not None else None


def leave_order(notes: Notes, status: CrawlStatus, command: Command) -> None:
    """Leave an order for the crawl with this status; replaces an order not yet taken. Raises `StateError`."""
    notes.leave(_ORDER, json.dumps({"crawl": status.crawl, "command": command.value}).encode())


def order_waits(notes: Notes) -> bool:
    """Return whether an order is not yet taken. Raises `StateError`."""
    return notes.read(_ORDER) is not None


def remove_control(notes: Notes) -> None:
    """Delete what a crawl that was killed has left. Raises `StateError`."""
    for name in (_ORDER, _STATUS):
        notes.delete(name)
