"""Deletions and changes that the guards hold back, and what a person decides about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from ultracrawl.dataclass import dataclass
from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.placement.held_changes import HeldChanges
from ultracrawl.run.removal.deletions import Deletions
from ultracrawl.run.writing.source_writer import idle_writer
from ultracrawl.run.writing.writer import IndexWriter
from ultracrawl.service.approval import check_revision, keep_for_run
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores import Store
from ultracrawl.stores.port.notes import Notes
from ultracrawl.stores.project_stores import open_state, source_notes, state_exists
from ultracrawl.stores.site_orders import SiteAction, SiteOrder

ORDERED = "ordered"
"""What JSON objects say of documents about which a decision is kept, for the running crawl or the next one."""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """What one of the guards holds back, and what is decided about it."""

    waiting: str
    """What JSON objects say of documents about which nothing was decided."""
    approved: str
    discarded: str
    _select: Callable[[Store], Iterable[UrlRecord]]
    _open: Callable[[DataSource, Store, IndexWriter, Notes | None], Deletions | HeldChanges]
    cause_of: Callable[[UrlRecord], str]
    """Returns why a document is held back, in a sentence."""
    _actions: tuple[SiteAction, SiteAction]
    """The orders that approve and discard."""

    def records(self, project: Project, source: DataSource) -> list[UrlRecord]:
        """Return the records that are held back; of a running crawl, those that it has stored so far."""
        if not state_exists(project, source.name):
            return []
        with closing(open_state(project, source.name, read_only=True)) as state:
            return list(self._select(state))

    @contextmanager
    def open(self, project: Project, source: DataSource) -> Iterator[Deletions | HeldChanges]:
        """Open what is held back of a source; what was approved is carried out at the end of the block.

        Raises `UserError` while the source is being crawled, `WorkError` if the index could not be brought up to date:
        the changes then stay in the document cache, and the next crawl writes them.
        """
        with (
            closing(open_state(project, source.name)) as state,
            idle_writer(project, source, state) as (writer, _),
        ):
            yield self._open(source, state, writer, source_notes(project, source.name))

    def decide(
        self, project: Project, source: DataSource, *, approve: bool, shown: str = ""
    ) -> tuple[str, list[UrlRecord]]:
        """Approve or discard all that is held back of a source; returns what was done (see `as_json`), and the records.

        What cannot be carried out here is kept for a run (`keep_for_run`). Raises what `open` raises, and
        `DecidedMeanwhileError` if what is held back has not the revision that was `shown`; an empty one fits all.
        """
        records, done = self.records(project, source), self.approved if approve else self.discarded
        check_revision(records, shown)
        if not records:
            return done, records
        keys = tuple(url_key(record.url) for record in records)
        order = SiteOrder(self._actions[0 if approve else 1], "", keys=keys)
        if keep_for_run(project, source.name, [order]):
            return ORDERED, records
        with self.open(project, source) as held:
            wanted = frozenset(keys)
            records = [one for one in held.candidates() if url_key(one.url) in wanted]
            check_revision(records, shown)
            (held.carry_out if approve else held.discard)(records)
        return done, records

    def as_json(self, source: str, done: str, records: Iterable[UrlRecord]) -> dict[str, Any]:
        """Return the JSON object that says what was done with documents.

        `done` is `waiting`, `approved`, `discarded` or `ORDERED`.
        """
        documents = [{"url": record.shown_url, "cause": self.cause_of(record)} for record in records]
        return {"source": source, "done": done, "documents": documents}


DELETIONS = HeldBack(
    "leaving",
    "deleted",
    "kept",
    lambda state: state.records.records_to_remove(),
    lambda _, state, writer, _notes: Deletions(state, writer),
    lambda record: str(record.removal),
    (SiteAction.DELETE_HELD, SiteAction.KEEP_HELD),
)
CHANGES = HeldBack(
    "held",
    "accepted",
    "discarded",
    lambda state: state.records.held_records(),
    HeldChanges,
    lambda record: record.reason,
    (SiteAction.ACCEPT_HELD, SiteAction.DROP_HELD),
)
