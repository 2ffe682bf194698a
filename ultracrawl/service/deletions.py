"""Deletions and changes that the guards hold back, and their approval while the source is not being crawled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from ultracrawl.crawl.placement.held_changes import HeldChanges
from ultracrawl.crawl.removal.deletions import Deletions
from ultracrawl.crawl.writing.opening import idle_writer
from ultracrawl.model import UrlRecord
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.opening import open_state


def held_back(project: Project, source: DataSource) -> list[UrlRecord]:
    """Return the records with a pending removal; of a running crawl, those that it has stored so far."""
    with closing(open_state(project, source.name, read_only=True)) as state:
        return list(state.records.records_to_remove())


def held_changes(project: Project, source: DataSource) -> list[UrlRecord]:
    """Return the records of which a new version is held back; of a running crawl, those that it has stored so far."""
    with closing(open_state(project, source.name, read_only=True)) as state:
        return list(state.records.held_records())


def deletions_json(source: str, done: str, leaving: Iterable[UrlRecord]) -> dict[str, Any]:
    """Return the JSON object of `approve-deletions --json`: what was done with the documents to remove."""
    documents = [{"url": record.shown_url, "cause": str(record.removal)} for record in leaving]
    return {"source": source, "done": done, "documents": documents}


def changes_json(source: str, done: str, held: Iterable[UrlRecord]) -> dict[str, Any]:
    """Return the JSON object of `approve-changes --json`: what was done with the new versions."""
    documents = [{"url": record.shown_url, "cause": record.reason} for record in held]
    return {"source": source, "done": done, "documents": documents}


@contextmanager
def deletions_of(project: Project, source: DataSource) -> Iterator[Deletions]:
    """Open the deletions of a source; approved ones are carried out at the end of the block.

    Raises `UserError` while the source is being crawled, `WorkError` if the index could not be brought up to date: the
    changes then stay in the document cache, and the next crawl writes them.
    """
    with (
        closing(open_state(project, source.name)) as state,
        idle_writer(project, source, state) as (writer, _),
    ):
        yield Deletions(state, writer)


@contextmanager
def changes_of(project: Project, source: DataSource) -> Iterator[HeldChanges]:
    """Open the held-back changes of a source; accepted ones are in the index at the end of the block.

    Raises what `deletions_of` raises.
    """
    with (
        closing(open_state(project, source.name)) as state,
        idle_writer(project, source, state) as (writer, _),
    ):
        yield HeldChanges(source, state, writer)
