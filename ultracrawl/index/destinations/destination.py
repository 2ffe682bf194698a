"""The `Destination` interface, and an index as a destination."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import UNLIMITED, Change, ComparesVersions, IndexEngine, Json, Lease
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.repair import note_counts

CLOSE_RECLAIM_SECONDS = 20.0
"""Seconds that closing an index may spend on freeing space, apart from the current step."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes of one source that are delivered together, in order."""

    key: str
    """Idempotency key: the same if these changes are delivered again, different for all others."""
    changes: list[Change]
    version: int = 0
    """Higher than that of all batches before; 0 if there is none."""
    lease: Lease = field(default=UNLIMITED, compare=False)
    """By whom, and for how long, the source is held; see `ComparesVersions.apply_version`."""


class Destination(Protocol):
    """Takes the documents and removals of a source, and confirms them.

    Delivery is at least once, and in order for each document, which is identified by source and URL. A batch that was
    partly taken, or whose confirmation was lost because a process was killed, is delivered again from its beginning,
    before any later one; a destination that puts and deletes by source and URL ends with the same documents.

    A subclass needs `deliver` alone. An object serves one source, in the index process of its crawl, in one thread.
    Several sources may have the same destination, each with an object and a process of its own.
    """

    def deliver(self, batch: Batch) -> int:
        """Store all changes of a batch durably, and return how many documents were added.

        Returning confirms the batch. Raises `WorkError`, with a message of one line, if the batch was not taken
        (wholly): it is kept, and delivered again later.
        """

    def maintain(self) -> None:
        """Do one bounded step of maintenance if it is due; called when no further delivery follows immediately."""

    def close(self) -> None:
        """Close files and connections; the destination cannot be used afterwards."""


class OpenDestination(Protocol):
    """What an entry point of the group `ultracrawl.destinations` names: a callable that opens a destination.

    It is called when a crawl begins, to check the options, and again in the index process.
    """

    def __call__(self, name: str, options: Mapping[str, Json]) -> Destination:
        """Open the destination called `name` in the definition, with its options.

        Nothing is written or requested before the first delivery. Raises `UserError` for an invalid option.
        """


class EngineDestination(Destination):
    """An index engine as a destination; `config` is that of its index, None if what it has is not noted."""

    def __init__(self, engine: IndexEngine, config: IndexConfig | None = None) -> None:
        self.engine = engine
        self._config = config
        self._has_delivered = False

    def deliver(self, batch: Batch) -> int:
        """Apply the changes, by their version if the engine compares versions."""
        self._has_delivered = True
        if isinstance(self.engine, ComparesVersions):
            return self.engine.apply_version(batch.changes, batch.version, batch.lease)
        return self.engine.apply(batch.changes)

    def maintain(self) -> None:
        """Merge segments if it is due."""
        self.engine.maintain()

    def close(self) -> None:
        """Close the index; if much of it is deleted, spend some seconds on freeing that space first.

        What it has is noted, so that no engine has to be asked when the next crawl begins.
        """
        end = time.monotonic() + CLOSE_RECLAIM_SECONDS
        with suppress(IndexStoreError):  # the index is unchanged, and a later crawl tries again
            while self.engine.reclaim() and time.monotonic() < end:
                pass
            if self._config is not None and self._has_delivered:
                note_counts(self.engine, self._config)
        self.engine.close()
