"""The port of everything that documents go to."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import Change, IndexEngine
from ultracrawl.index.values import Json

RECLAIM_SECONDS = 20.0
"""So long an index that is closed may go on freeing space, apart from the step that it is in."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes of one source that are handed over together, in their order."""

    key: str
    """The same whenever these changes are handed over again, and another one for all others."""
    changes: list[Change]


class Destination(Protocol):
    """Takes the documents and removals of a source, and confirms them.

    What is delivered comes at least once, and in order for each document, which source and URL identify. So a batch
    that was taken in part, or whose confirmation was lost when a process was killed, comes again from its beginning,
    and before any later one; whoever puts and deletes by source and URL ends with the same documents.

    A class that inherits from this one needs `deliver` alone. One object serves one source, in the index process of its
    crawl, in one thread. Several sources may have the same destination, each with an object and a process of its own.
    """

    def deliver(self, batch: Batch) -> int:
        """Take all changes of a batch durably, and return how many documents were added.

        Returning confirms the batch. Raises `WorkError`, with one line that says what is wrong, if it cannot be taken
        (wholly): it is kept, and delivered again later.
        """

    def maintain(self) -> None:
        """Do one bounded piece of housekeeping if it is due; called after deliveries that no other follows closely."""

    def close(self) -> None:
        """Release files and connections; the destination is not used afterwards."""


class OpenDestination(Protocol):
    """What a type of destinations is: a class, or a function, that opens one.

    It is called when a crawl begins, to see that the options are good, and again in the index process.
    """

    def __call__(self, name: str, options: Mapping[str, Json]) -> Destination:
        """Open a destination by its options in the definition; `name` is what it is called there.

        Nothing is written or asked before the first delivery. Raises `UserError` if an option is not good.
        """


class EngineDestination(Destination):
    """An index of ours as a destination."""

    def __init__(self, engine: IndexEngine) -> None:
        self.engine = engine

    def deliver(self, batch: Batch) -> int:
        """Have the changes searchable, in one commit."""
        return self.engine.apply(batch.changes)

    def maintain(self) -> None:
        """Merge if it is due."""
        self.engine.maintain()

    def close(self) -> None:
        """Close the index; if much of it is deleted, some seconds are taken to free that space first."""
        end = time.monotonic() + RECLAIM_SECONDS
        with suppress(IndexStoreError):  # it is as it was, and a later crawl tries again
            while self.engine.reclaim() and time.monotonic() < end:
                pass
        self.engine.close()
