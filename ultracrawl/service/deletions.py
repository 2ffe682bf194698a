"""Decisions on documents that were held back from leaving the index, while their source is not being crawled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ultracrawl.crawl.removal.deletions import Deletions
from ultracrawl.crawl.writing.opening import open_writer
from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport, UrlRecord
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.opening import open_state

COMMIT_TIMEOUT = 3600.0
"""Seconds that the index process may take for the deletions."""


def held_back(project: Project, source: DataSource) -> list[UrlRecord]:
    """Return the records whose documents are to leave, as far as a crawl that may be running has written them down."""
    state = open_state(project, source.name, read_only=True)
    try:
        return list(state.records.records_to_remove())
    finally:
        state.close()


@contextmanager
def deletions_of(project: Project, source: DataSource) -> Iterator[Deletions]:
    """Open the deletions of a source; at the end of the block, those that were approved are carried out.

    Raises `UserError` while the source is being crawled, `WorkError` if the index could not be brought up to date: what
    was decided then stays in the document cache, and the next crawl goes on with it.
    """
    state = open_state(project, source.name)
    try:
        numbers = RunReport(source.name, "", "")
        feed = open_writer(project, source, state, numbers)
        try:
            state.documents.refetch_lost(feed.recover())
            yield Deletions(state, feed)
            state.flush()
            feed.drain()
        finally:
            feed.close(COMMIT_TIMEOUT)
        if numbers.problems:
            raise WorkError("; ".join(numbers.problems))
    finally:
        state.close()
