"""Decisions on documents that were held back from leaving the index, while their source is not being crawled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from ultracrawl.crawl.removal.deletions import Deletions
from ultracrawl.crawl.writing.opening import idle_writer
from ultracrawl.model import UrlRecord
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.opening import open_state


def held_back(project: Project, source: DataSource) -> list[UrlRecord]:
    """Return the records whose documents are to leave, as far as a crawl that may be running has written them down."""
    with closing(open_state(project, source.name, read_only=True)) as state:
        return list(state.records.records_to_remove())


def deletions_json(source: str, done: str, leaving: Iterable[UrlRecord]) -> dict[str, Any]:
    """Return what was done with documents that are to leave, in the shape of `approve-deletions --json`."""
    documents = [{"url": record.shown_url, "cause": str(record.removal)} for record in leaving]
    return {"source": source, "done": done, "documents": documents}


@contextmanager
def deletions_of(project: Project, source: DataSource) -> Iterator[Deletions]:
    """Open the deletions of a source; at the end of the block, those that were approved are carried out.

    Raises `UserError` while the source is being crawled, `WorkError` if the index could not be brought up to date: what
    was decided then stays in the document cache, and the next crawl goes on with it.
    """
    with (
        closing(open_state(project, source.name)) as state,
        idle_writer(project, source, state) as (feed, _),
    ):
        yield Deletions(state, feed)
