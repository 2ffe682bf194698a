"""Opens the way of a source's documents to its indexes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ultracrawl.crawl.run_counters import RunCounters
from ultracrawl.crawl.writing.pauses import Pauses
from ultracrawl.crawl.writing.writer import IndexWriter
from ultracrawl.errors import WorkError
from ultracrawl.index.writing.destination_queues import DestinationQueues
from ultracrawl.index.writing.opening import open_cache, open_destinations, pause_switch
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores import Store

COMMIT_TIMEOUT = 3600.0
"""Seconds that the index processes may take for what was handed over outside a crawl."""


def open_writer(
    project: Project,
    source: DataSource,
    state: Store,
    counters: RunCounters,
    *,
    crawling: bool = False,
    destinations: DestinationQueues | None = None,
    kind: type[IndexWriter] = IndexWriter,
) -> IndexWriter:
    """Return the feed of a source, which counts what is committed; call `recover` before anything else.

    What depends on the time that documents wait, and on phases of a crawl, counts while crawling only.
    """
    return kind(
        source.name,
        open_cache(project, source.name),
        destinations or open_destinations(project, source),
        state,
        counters,
        every=project.index.every if crawling else None,
        two_phases=crawling and project.cache.phases == "two",
        backlog=source.feeding.backlog,
        anchors=project.index.anchors,
        pauses=Pauses(source.feeding, pause_switch(project, source.name)),
    )


@contextmanager
def idle_writer(
    project: Project, source: DataSource, state: Store
) -> Iterator[tuple[IndexWriter, RunCounters]]:
    """Give the feed of a source that is not being crawled, and what it counts; at the end all is in the indexes.

    Raises `WorkError` if an index could not be brought up to date: what was handed over then stays in the document
    cache, and who opens it next goes on with it.
    """
    numbers = RunCounters(source.name)
    feed = open_writer(project, source, state, numbers)
    try:
        state.documents.refetch_lost(feed.recover())
        yield feed, numbers
        state.flush()
        feed.drain()
    finally:
        feed.close(COMMIT_TIMEOUT)
    if numbers.problems:
        raise WorkError("; ".join(numbers.problems))
