"""Opens the way of a source's documents to its indexes."""

from __future__ import annotations

from ultracrawl.crawl.writing.pauses import Pauses
from ultracrawl.crawl.writing.writer import IndexWriter
from ultracrawl.index.opening import open_cache, open_destinations, pause_switch
from ultracrawl.index.writing.destinations import IndexDestinations
from ultracrawl.model import RunReport
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores import Store


def open_writer(
    project: Project,
    source: DataSource,
    state: Store,
    report: RunReport,
    *,
    crawling: bool = False,
    destinations: IndexDestinations | None = None,
) -> IndexWriter:
    """Return the feed of a source, which counts in a report; call `recover` before anything else.

    What depends on the time that documents wait, and on phases of a crawl, counts while crawling only.
    """
    return IndexWriter(
        source.name,
        open_cache(project, source.name),
        destinations or open_destinations(project, source),
        state,
        report,
        every=project.index.every if crawling else None,
        two_phases=crawling and project.cache.phases == "two",
        backlog=source.feeding.backlog,
        anchors=project.index.anchors,
        pauses=Pauses(source.feeding, pause_switch(project, source.name)),
    )
