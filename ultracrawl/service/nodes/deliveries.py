"""Delivers what waits in the document caches of a node, whose sources may be crawled by other nodes next."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager

from ultracrawl.errors import UserError
from ultracrawl.index.writing.cache import has_segments
from ultracrawl.index.writing.destination_queues import queue_folders
from ultracrawl.index.writing.project_outputs import cache_folder, pause_switch
from ultracrawl.run.indexing.anchors import send_changed_texts
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.writing.lost_documents import queue_lost
from ultracrawl.run.writing.pauses import Pauses
from ultracrawl.run.writing.source_writer import open_writer
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.stores import Store
from ultracrawl.stores.delivery import Delivery
from ultracrawl.stores.port.leases import LEASE_SECONDS
from ultracrawl.stores.project_stores import open_state, source_notes

logger = logging.getLogger("ultracrawl.service")

DELIVER_SECONDS = 3 * LEASE_SECONDS
"""Seconds between two attempts: an index that could not be reached may be there again."""
_POLL_SECONDS = 0.05
_CLOSE_SECONDS = 10.0


class Deliveries:
    """Delivers documents that crawls have left in the caches of this machine, in a thread, one source after the other.

    Other nodes leave them alone as long as this one lives.
    """

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        self._at = time.monotonic() + DELIVER_SECONDS
        self._work: asyncio.Future[None] | None = None
        self._ending = threading.Event()

    def begin_due(self, busy: Collection[str]) -> None:
        """Begin to deliver if it is time for that; `busy` are sources that are being crawled, or soon are."""
        if time.monotonic() < self._at or (self._work is not None and not self._work.done()):
            return
        self._at = time.monotonic() + DELIVER_SECONDS
        self._work = asyncio.ensure_future(asyncio.to_thread(self._deliver, self._project(), frozenset(busy)))

    async def end_deliveries(self) -> None:
        """End what goes on; what was not delivered stays in the cache."""
        self._ending.set()
        if self._work is not None:
            await self._work

    def _deliver(self, project: Project, busy: Collection[str]) -> None:
        for name, source in project.sources.items():
            if name not in busy and not self._ending.is_set() and _waits(project, source):
                try:
                    self._deliver_of(project, source)
                except UserError:
                    continue  # somebody crawls it now, and delivers what is there
                except Exception as error:  # what a source has may end no node
                    logger.warning("what waits in the cache of %s cannot be delivered: %s", name, error)

    def _deliver_of(self, project: Project, source: DataSource) -> None:
        counters = RunCounters(source.name)
        with _held(project, source.name) as (state, delivery):
            writer = open_writer(project, source, state, counters)
            try:
                waiting = writer.recover()
                lost = state.documents.refetch_lost(waiting)
                if lost:
                    queue_lost(state, compile_source(source, project), lost)
                if project.index.anchors:  # other pages may have been crawled elsewhere meanwhile
                    send_changed_texts(state, writer, waiting)
                writer.drain()
                while writer.busy and not self._ending.wait(_POLL_SECONDS) and not delivery.is_wanted():
                    writer.tick()
            finally:
                writer.close(_CLOSE_SECONDS)
        if counters.indexed or counters.deleted:
            logger.info("what waited in the cache of %s is in the index", source.name)


@contextmanager
def _held(project: Project, source: str) -> Iterator[tuple[Store, Delivery]]:
    """Hold a source, and tell so: yields its store, and what tells whether somebody wants it."""
    notes = source_notes(project, source)
    assert notes is not None, "what nodes share is in a database"
    with ExitStack() as held, closing(open_state(project, source, waits=False)) as state:
        # It ends when the store is closed: then the source is free.
        yield state, held.enter_context(closing(Delivery(notes)))


def _waits(project: Project, source: DataSource) -> bool:
    """Return whether documents wait in the cache of a source for a destination that is not paused."""
    cache, labels = (
        cache_folder(project, source.name),
        {one.index: one.label for one in source.feeding.in_order},
    )
    pauses = Pauses(source.feeding, pause_switch(project, source.name))
    pauses.changed(0.0)
    folders = [(PROJECT_INDEX, cache), *queue_folders(cache).items()]
    return any(not pauses.of(labels.get(index, "")) and has_segments(folder) for index, folder in folders)
