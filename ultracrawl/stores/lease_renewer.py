"""Renews the leases of a crawl beside its event loop, which code of users, a large page or a busy machine may hold up.

A crawl renews its leases itself, as part of its periodic work. When it is late, a thread does it, by connections of its
own, so that no other process takes over what this one is still working on. That ends: a loop that hangs for ever must
not keep its source (`LoopPulse`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from ultracrawl.errors import WorkError
from ultracrawl.stores.port.leases import RENEW_SECONDS, KeptLease
from ultracrawl.system.wall_guard import LEAST_WALL_SECONDS, wall_limit

LATE_SECONDS = 1.5 * RENEW_SECONDS
"""Age of a lease at which its holder is late."""
LOOK_SECONDS = RENEW_SECONDS / 4
"""Seconds between two looks at the leases."""
LEAST_SILENCE = 600.0
"""Seconds for which a loop may be silent at least, and still counts as living."""


def longest_silence(function_timeout: float) -> float:
    """Return for how many seconds a loop counts as living without a sign, if functions of filters have this limit.

    Whatever else has a limit of its own is shorter than the least (`LEAST_SILENCE`).
    """
    return max(LEAST_SILENCE, wall_limit(function_timeout) + LEAST_WALL_SECONDS)


class LoopPulse:
    """Tells other threads whether an event loop lives: it is asked to call a function, and has some time for that."""

    def __init__(
        self,
        ask: Callable[[Callable[[], None]], object],
        longest: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`ask` has the loop call a function soon, from any thread; `longest` is the number of seconds it may take."""
        self._ask = ask
        self._longest = longest
        self._monotonic = monotonic
        self._asked: float | None = None
        """When it was asked what it has not answered yet."""

    def lives(self) -> bool:
        """Return whether the loop has answered lately, and ask it again."""
        asked = self._asked
        if asked is not None:
            return self._monotonic() - asked <= self._longest
        self._asked = self._monotonic()
        try:
            self._ask(self._answer)
        except RuntimeError:  # it is closed
            return False
        return True

    def _answer(self) -> None:
        self._asked = None


class LeaseRenewer:
    """The thread that renews leases whose holder is late, as long as it lives."""

    def __init__(self, lives: Callable[[], bool]) -> None:
        self.lives = lives
        """Returns whether the holder lives; called in other threads."""
        self.renewed: Callable[[], object] = lambda: None
        """Called in the thread when it has renewed leases. May raise `WorkError`."""
        self._leases: tuple[KeptLease, ...] = ()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def keep(self, lease: KeptLease) -> None:
        """Look after a lease, too."""
        self._leases += (lease,)

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(LOOK_SECONDS):
            self.look()
        for lease in self._leases:
            lease.end_beside()

    def look(self) -> None:
        """Renew the leases whose holder is late. What fails is tried again with the next look, or by the holder."""
        late = [lease for lease in self._leases if lease.lease_age() >= LATE_SECONDS]
        if not late or not self.lives():
            return
        for lease in late:
            with suppress(WorkError):
                lease.renew_beside()
        with suppress(WorkError):
            self.renewed()

    def close(self) -> None:
        """End the thread: what its leases belong to may be closed then."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
