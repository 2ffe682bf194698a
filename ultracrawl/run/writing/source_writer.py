"""Opens the writer of a source's indexes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ultracrawl.errors import WorkError
from ultracrawl.index.engines import has_cheap_commits
from ultracrawl.index.project_index import engines_of
from ultracrawl.index.writing.destination_queues import DestinationQueues
from ultracrawl.index.writing.project_outputs import open_cache, open_destinations, pause_switch
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.writing.lost_documents import queue_lost
from ultracrawl.run.writing.pauses import Pauses
from ultracrawl.run.writing.writer import CHEAP_EAGER_SIZE, EAGER_SIZE, CommitPolicy, IndexWriter
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores import Store

COMMIT_TIMEOUT = 3600.0
"""Seconds that the index processes may take for changes that were made outside a crawl."""


def open_writer(
    project: Project,
    source: DataSource,
    state: Store,
    counters: RunCounters,
    *,
    crawling: bool = False,
    destinations: DestinationQueues | None = None,
    kind: type[IndexWriter] = IndexWriter,
    pauses: bool = True,
) -> IndexWriter:
    """Return the writer of a source, which counts commits in `counters`; call its `recover` before anything else.

    The options about waiting time and crawl phases apply only if `crawling`. Without `pauses` destinations that are
    paused are written to as well.
    """
    engine = engines_of(project).get(source.feeding.primary_index)
    return kind(
        source.name,
        open_cache(project, source, state.next_epoch()),
        destinations or open_destinations(project, source),
        state,
        counters,
        policy=CommitPolicy(
            project.index.every if crawling else None,
            crawling and project.cache.phases == "two",
            CHEAP_EAGER_SIZE if engine is not None and has_cheap_commits(engine) else EAGER_SIZE,
        ),
        backlog=source.feeding.backlog,
        anchors=project.index.anchors,
        pauses=Pauses(source.feeding, pause_switch(project, source.name)) if pauses else None,
    )


@contextmanager
def idle_writer(
    project: Project, source: DataSource, state: Store, *, pauses: bool = True
) -> Iterator[tuple[IndexWriter, RunCounters]]:
    """Provide the writer of a source that is not being crawled, and its counters; at the end all changes are indexed.

    Without `pauses` paused destinations get them too. Raises `WorkError` if an index could not be updated: the changes
    stay in the document cache for the next writer.
    """
    counters = RunCounters(source.name)
    writer = open_writer(project, source, state, counters, pauses=pauses)
    try:
        lost = state.documents.refetch_lost(writer.recover())
        if lost:
            queue_lost(state, compile_source(source, project), lost)
        yield writer, counters
        state.flush()
        writer.drain()
    finally:
        writer.close(COMMIT_TIMEOUT)
    if counters.problems:
        raise WorkError("; ".join(counters.problems))
