"""The note by which an index process knows for how long, and as whom, the crawl that it serves holds its source.

Only indexes that several machines write to need it (`ComparesVersions`): a bulk request that its server carries out
after the lease could come behind those of the next holder.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import Holder, Lease
from ultracrawl.system.files import cause_and_remedy

_FILE = "lease"
_MARGIN = 0.1
"""Share of a lease that no request may reach into."""


class LeaseNote:
    """The note in the folder of a document cache, written by the crawl that has the folder."""

    def __init__(self, folder: Path, epoch: int = 0) -> None:
        self._file = folder / _FILE
        self._epoch = epoch
        self._renewed = -1.0
        self._writing = threading.Lock()

    def write(self, renewed: float, seconds: float) -> None:
        """Note that a lease of some seconds was renewed at a monotonic time; with 0 there are no leases.

        Two threads may do it. Raises `IndexStoreError`.
        """
        with self._writing:
            if renewed == self._renewed:
                return
            try:
                self._replace(renewed, seconds)
            except OSError as error:
                raise IndexStoreError(f"{self._file} cannot be written: {cause_and_remedy(error)}") from error
            self._renewed = renewed

    def _replace(self, renewed: float, seconds: float) -> None:
        if not renewed:
            self._file.unlink(missing_ok=True)
            return
        draft = self._file.with_suffix(".new")
        draft.write_text(f"{renewed!r} {seconds!r} {_boot()} {self._epoch}", encoding="ascii")
        draft.replace(self._file)


def noted_lease(folder: Path) -> Lease:
    """Return the lease of the source that has a document cache, as its note says each time."""
    return Lease(partial(seconds_left, folder), partial(holder, folder))


def holder(folder: Path) -> Holder | None:
    """Return who holds the source; None without leases. A note that says nothing sure is of one before all others."""
    try:
        _, _, _, epoch = (folder / _FILE).read_text(encoding="ascii").split(" ")
        return Holder(folder.name, int(epoch))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return Holder(folder.name, 0)


def seconds_left(folder: Path, clock: Callable[[], float] = time.monotonic) -> float:
    """Return for how many seconds a request about the source may last that begins now; 0: none may begin.

    None may when half the lease has passed since it was renewed, and each ends before the lease. Without a note there
    are no leases. A note of an earlier start of the machine counts as over: its times mean nothing.
    """
    try:
        renewed, seconds, *boot = (folder / _FILE).read_text(encoding="ascii").split(" ")
        age, lease = clock() - float(renewed), float(seconds)
    except FileNotFoundError:
        return math.inf
    except (OSError, ValueError):
        return 0.0
    if boot[:1] != [_boot()] or not 0 <= age <= lease / 2:
        return 0.0
    return lease * (1 - _MARGIN) - age


def _boot() -> str:
    """Return an identifier of this start of the machine, whose monotonic clock all its processes have in common."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""
