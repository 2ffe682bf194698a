"""Renews the readers of documents that an earlier version indexed, without reading them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from ultracrawl.agents.entry_texts import pack_entry
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.duplicates.fingerprint import ContentMark, type_mark
from ultracrawl.run.writing.writer import NewReaders
from ultracrawl.stores import Retained
from ultracrawl.system.nouns import counted

if TYPE_CHECKING:
    from ultracrawl.agents.port import Entry
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.listing.answers import StoredValidators

_BATCH = 1000
"""Copies that are queued between two flushes."""


class Readers(Enum):
    """What is to be done about the readers of a document whose content is unchanged."""

    KNOWN = auto()
    """Nothing: the index has those of now, or is told them by this listing."""
    LATER = auto()
    """It is a copy of another document, and read when the listing has ended: only then it is known whether both have
    equal readers."""
    READ_AGAIN = auto()


class ReaderRenewal:
    """Finds documents whose record lacks the mark of their readers, and gives the index the readers of now.

    Earlier versions derived names without a type, so that the same one meant a user and a group. What cannot be done
    without the content is left to a visit: documents that the index does not have yet, those of which similar ones are
    looked for, those whose items may name readers, those with lists of related URLs, of which a copy is kept, and those
    of sources that feed other programs than our own index.
    """

    def __init__(
        self, context: CrawlContext, validators: StoredValidators, *, items_have_readers: bool
    ) -> None:
        """Initialise; `items_have_readers`: items of the source may name their readers."""
        self._context = context
        self._validators = validators
        self._due: dict[int, NewReaders] = {}
        self._copies: list[int] = []
        self._renewed = 0
        fingerprints, feeding = context.rules.fingerprints, context.source.feeding.in_order
        others = context.project.destinations
        self._needs_content = (
            items_have_readers
            or bool(context.source.relations.names)
            or (fingerprints is not None and fingerprints.near)
            or any(place.index in others for place in feeding)
        )

    def judge(self, key: int, record: UrlRecord, entry: Entry) -> Readers:
        """Return what is to be done about the readers of a known document, and note it; its content is unchanged."""
        stored = self._validators.of(entry)
        if record.etag == stored or record.outcome is UrlOutcome.NOT_INDEXED:
            return Readers.KNOWN
        if record.outcome is UrlOutcome.DUPLICATE:
            self._context.store.documents.retain_document(Retained.LISTED, key, pack_entry(entry))
            self._copies.append(key)
            return Readers.LATER
        if self._needs_content or not record.indexed or record.pending or record.held_back:
            self._context.store.records.amend_record(
                key, without_validators(record)
            )  # equal content is sent too
            return Readers.READ_AGAIN
        readers = self._validators.readers_of(entry)
        mark = ContentMark(record.fingerprint)
        changed = replace(
            record,
            etag=stored,
            fingerprint=mark.among(type_mark(entry.acl)).fingerprint if record.fingerprint else b"",
            submitted=True,
            indexed=False,
        )
        self._context.store.records.amend_record(key, changed)
        self._due[key] = NewReaders(record.shown_url, record.depth, readers)
        return Readers.KNOWN

    def submit(self) -> None:
        """Send the index the readers of the batch; called before the records are flushed."""
        if self._due:
            self._context.documents.writer.renew_readers(self._due)
            self._renewed += len(self._due)
            self._due = {}

    def queue_copies(self, queue_copy: Callable[[int, UrlRecord], None]) -> None:
        """Have the copies read again; called when the listing has ended."""
        for at in range(0, len(self._copies), _BATCH):
            keys = self._copies[at : at + _BATCH]
            for key, record in self._context.store.records.get_records(keys).items():
                queue_copy(key, record)
            self._context.flush()
        self._copies = []

    def report(self) -> str:
        """Return the line for the report of the run; empty if nothing was renewed."""
        if not self._renewed:
            return ""
        number = counted(self._renewed, "document")
        return f"the readers of {number} were renewed: they say now whether they are users or groups"
