"""All sources of a schema in the hands of one process, which no crawl may take meanwhile."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from uuid import uuid4

from ultracrawl.errors import StateError
from ultracrawl.stores.port.leases import RENEW_SECONDS
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.access.fencing import take_part

HELD_SECONDS = 120.0
"""Seconds for which sources are held: longer than a crawl's lease, as one statement may take long here."""

_NUMBERS = b"SELECT name, source FROM source"
_RENEW = b"UPDATE part SET until = moment() + %s WHERE source = ANY(%s) AND part = 0 AND token = %s RETURNING source"
_RELEASE = b"UPDATE part SET token = NULL, until = 0 WHERE source = ANY(%s) AND part = 0 AND token = %s"


class HeldSources:
    """The sources of a schema with their numbers, all held. Raises `UserError` if one is being crawled."""

    def __init__(self, database: Database) -> None:
        self.numbers: Mapping[str, int] = dict(sorted(database.read(_NUMBERS)))
        self._database = database
        self._token = uuid4()
        self._renewed = time.monotonic()
        database.transact(
            lambda db: [
                take_part(db, number, name, self._token, HELD_SECONDS)
                for name, number in sorted(self.numbers.items(), key=lambda one: one[1])
            ]
        )

    def renew(self) -> None:
        """Keep the sources, if that was not done for some seconds. Raises `StateError` if one was taken over."""
        if time.monotonic() - self._renewed < RENEW_SECONDS:
            return
        self._renewed = time.monotonic()
        numbers = sorted(self.numbers.values())
        if len(self._database.read(_RENEW, HELD_SECONDS, numbers, self._token)) < len(numbers):
            raise StateError("another process has taken over a source that is being copied; copy it again")

    def close(self) -> None:
        """Give the sources back."""
        with suppress(StateError):  # their leases end by themselves
            self._database.read(_RELEASE, sorted(self.numbers.values()), self._token)
