"""Lets new versions that a crawl held back into the index, or drops them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ultracrawl.model import NO_CAUSE, CauseCode, UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.duplicates.losses import Group
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.placement.new_versions import unpack_version
from ultracrawl.stores import Retained, Store
from ultracrawl.stores.source_notes.lost_versions import lost_versions, note_lost_versions

if TYPE_CHECKING:
    from ultracrawl.run.writing.writer import IndexWriter
    from ultracrawl.sources import DataSource
    from ultracrawl.stores.port.notes import Notes

BATCH = 500
"""Documents that are submitted between two flushes."""


class HeldChanges:
    """The held-back new versions of a source that is not being crawled.

    A document is durable in the document cache before the store releases it, and release and record are committed
    together, so that nothing is lost by a kill and a second call changes nothing.
    """

    def __init__(
        self, source: DataSource, state: Store, writer: IndexWriter, notes: Notes | None = None
    ) -> None:
        """Initialise; `notes` are those of the source, None if its state is in memory."""
        self._state = state
        self._writer = writer
        self._notes = notes
        self._is_read_again = source.storage.keep or bool(source.relations.names)
        """Whether more than the document is made of a page, so that the next crawl has to read it once more."""

    def candidates(self) -> list[UrlRecord]:
        """Return the records of which a new version is held back."""
        self._state.flush()
        return list(self._state.records.held_records())

    def carry_out(self, held: Iterable[UrlRecord]) -> int:
        """Submit the new versions of documents to the index; returns how many."""
        waiting, accepted, names = iter(held), 0, set[str]()
        while batch := list(islice(waiting, BATCH)):
            accepted += sum(map(self._submit, batch))
            names.update(record.cause.subject for record in batch if record.cause.code is CauseCode.ALIKE)
            self._writer.sync()
            self._state.flush()
            self._writer.tick()
        if accepted and self._notes is not None:
            self._approve_groups(self._notes, names)
        return accepted

    @staticmethod
    def _approve_groups(notes: Notes, names: set[str]) -> None:
        """Have the change guard take what becomes like the new versions, of the groups named so, for no wall."""
        note = lost_versions(notes)
        groups = list(map(Group.of_json, note.groups))
        for group in groups:
            if group.is_held and group.look.label in names:
                group.approve()
        note_lost_versions(notes, note._replace(groups=[group.as_json() for group in groups]))

    def _submit(self, record: UrlRecord) -> bool:
        key = url_key(record.url)
        data = self._state.documents.retained_document(Retained.CHANGE, key)
        found = unpack_version(data) if data else None
        self._state.documents.release_document(Retained.CHANGE, key)
        if found is None:
            return False
        version, document = found
        if record.shown_url != document.url:
            self._writer.delete(key, record)
        self._writer.add(key, document)
        changed = version.accepted(record)
        self._state.records.amend_record(key, without_validators(changed) if self._is_read_again else changed)
        return True

    def discard(self, held: Iterable[UrlRecord]) -> int:
        """Drop the new versions of documents until a visit finds them again; returns how many."""
        dropped = list(held)
        for record in dropped:
            key = url_key(record.url)
            self._state.documents.release_document(Retained.CHANGE, key)
            if record.outcome is UrlOutcome.HELD_BACK:
                unchanged = replace(record, outcome=UrlOutcome.UNMODIFIED, cause=NO_CAUSE, failed_runs=0)
                self._state.records.amend_record(key, unchanged)
        self._state.flush()
        return len(dropped)
