"""How long a process keeps what it holds in a store without a word: a source, sites, the name of a node."""

from __future__ import annotations

import os
from typing import Protocol

from ultracrawl.errors import UserError

VARIABLE = "ULTRACRAWL_LEASE_SECONDS"
"""The environment variable with the length of leases in seconds; equal on all machines of a project."""
_DEFAULT = 20.0
_LEAST, _MOST = 1.0, 3600.0


def lease_seconds(environment: str) -> float:
    """Return the length of leases by the value of `VARIABLE`, which may be empty. Raises `UserError`."""
    try:
        seconds = float(environment or _DEFAULT)
    except ValueError:
        seconds = 0.0
    if not _LEAST <= seconds <= _MOST:
        raise UserError(
            f"{VARIABLE} is {environment!r}; write seconds from {_LEAST:.0f} to {_MOST:.0f}, as 20"
        )
    return seconds


LEASE_SECONDS = lease_seconds(os.environ.get(VARIABLE, ""))
"""Seconds after its last renewal for which a process keeps what it holds."""
RENEW_SECONDS = LEASE_SECONDS / 4
"""Seconds after which a lease is renewed."""


class KeptLease(Protocol):
    """A lease as another thread sees it, which renews it when its holder does not come to it."""

    def lease_age(self) -> float:
        """Return how many seconds ago it was renewed; at most 0 when there is nothing to renew any more."""

    def renew_beside(self) -> None:
        """Renew it by a connection of the calling thread. One that was lost stays lost. Raises `StateError`."""

    def end_beside(self) -> None:
        """Close that connection."""
