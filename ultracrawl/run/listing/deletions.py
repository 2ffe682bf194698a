"""Removes the documents that a lister names as deleted, or names no more."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.agents.entry_texts import unpack_entry
from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlRecord
from ultracrawl.rules.urls.canonical import split, url_key
from ultracrawl.sources.kinds import kind_schemes
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.agents.port import Entry
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

_UNLISTED = Removal(RemovalReason.UNLISTED, Cause(CauseCode.UNLISTED))
_ENTRIES_AT_ONCE = 500
"""Stored entries that are read before other tasks of the event loop run."""


class ListedDeletions:
    """Removes documents that are deleted in the source, and counts those of them that are not known."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._schemes = kind_schemes(context.source.type)
        self._urls_by_key: dict[str, str] | None = None
        self._gone: set[int] = set()
        """Keys of documents that this listing named as deleted, and not again afterwards."""
        self._unknown = 0
        self._first_unknown = ""

    async def apply(self, listed: Sequence[Entry]) -> dict[int, tuple[str, Entry]]:
        """Remove the documents of deleted entries; returns URL and entry of the others by key."""
        entries: dict[int, tuple[str, Entry]] = {}
        gone: dict[int, UrlRecord] = {}
        deleted = [key for entry in listed if entry.deleted for key in self._keys_of(entry)]
        known = self._context.store.records.get_records(deleted) if deleted else {}
        for entry in listed:
            if not entry.deleted:
                url = self.canonical(entry.access_url)
                key = url_key(url)
                if key in entries and entries[key][0] != url:
                    self._context.run.note_shared_key(url, entries[key][0])
                    continue
                entries[key] = url, entry
                gone.pop(key, None)
                continue
            for key in [key for key, (_, other) in entries.items() if _names(entry, other)]:
                del entries[key]
            if (record := await self._find(entry, known)) is not None:
                gone[url_key(record.url)] = record
        self._gone.difference_update(entries)
        self._gone.update(gone)
        self.remove(gone.values())
        return entries

    def cancel(self, records: dict[int, UrlRecord]) -> None:
        """Cancel the removal of documents that were not listed for a time and are listed again, also in `records`."""
        for key, record in records.items():
            if record.leaves_for(RemovalReason.UNLISTED):
                records[key] = replace(record, removal=None)
                self._context.store.records.amend_record(key, records[key])

    def remove(self, gone: Iterable[UrlRecord]) -> None:
        """Mark documents for removal."""
        leaving = [
            replace(record, removal=_UNLISTED) for record in gone if record.searchable and not record.removal
        ]
        self._context.documents.remove(leaving)

    def remove_again(self, key: int) -> None:
        """Mark a document for removal whose visit ended after it was named as deleted."""
        record = self._context.store.records.get_record(key) if key in self._gone else None
        self.remove(() if record is None else (record,))

    def canonical(self, url: str) -> str:
        """Return the canonical form of an access URL."""
        return self._context.rules.url_policy.without_rewriting.canonical(url) or url

    def report(self) -> str:
        """Return the line about unknown documents for the report of the run; empty if there are none."""
        if not self._unknown:
            return ""
        if self._unknown == 1:
            return f"a document that is not known was named as deleted: {self._first_unknown}"
        return (
            f"{self._unknown:,} documents that are not known were named as deleted, "
            f"the first one is {self._first_unknown}"
        )

    async def _find(self, entry: Entry, by_url: Mapping[int, UrlRecord]) -> UrlRecord | None:
        """Return the record that an entry names as deleted; None if there is none.

        `by_url` has the known ones of its URLs. The first document that is found counts: by an access URL, by the key,
        by the display URL.
        """
        known: list[UrlRecord] = []
        named = [by_url[key] for key in self._keys_of(entry) if key in by_url]
        for record in [*named, *await self._by_key(entry), *self._by_display_url(entry)]:
            if record.searchable or record.pending:
                return record
            known.append(record)
        if not known:
            self._note_unknown(entry)
        return next(iter(known), None)

    def _keys_of(self, entry: Entry) -> list[int]:
        return [url_key(self.canonical(url)) for url in (entry.access_url, *entry.also) if url]

    async def _by_key(self, entry: Entry) -> list[UrlRecord]:
        if not entry.key:
            return []
        if self._urls_by_key is None:
            self._urls_by_key = await self._read_keys()
        url = self._urls_by_key.get(entry.key, "")
        record = self._context.store.records.get_record(url_key(url)) if url else None
        return [] if record is None else [record]

    async def _read_keys(self) -> dict[str, str]:
        """Return the access URLs of documents on web servers by their key in the source."""
        documents = self._context.store.documents
        urls: dict[str, str] = {}
        keys = documents.retained_keys(Retained.LISTED)
        for start in range(0, len(keys), _ENTRIES_AT_ONCE):
            some = keys[start : start + _ENTRIES_AT_ONCE]
            stored = documents.retained_documents(Retained.LISTED, some)
            for entry in (unpack_entry(stored[key]) for key in some if key in stored):
                if entry.key:
                    urls[entry.key] = self.canonical(entry.access_url)
            await asyncio.sleep(0)
        return urls

    def _by_display_url(self, entry: Entry) -> list[UrlRecord]:
        shown = entry.display_url
        if not shown:
            return []
        records = self._context.store.records
        found = records.with_display_url(shown)
        own = records.get_record(url_key(self.canonical(shown)))
        if own is not None and not own.display_url:
            found.append(own)
        return [record for record in found if not entry.key or not self._has_other_key(record, entry.key)]

    def _has_other_key(self, record: UrlRecord, key: str) -> bool:
        """Return whether a document has another key than the one that was deleted, and took over its display URL."""
        if split(record.url).scheme in self._schemes:  # found by its access URL if it has this key
            return True
        data = self._context.store.documents.retained_document(Retained.LISTED, url_key(record.url))
        return data is not None and unpack_entry(data).key not in ("", key)

    def _note_unknown(self, entry: Entry) -> None:
        if not (entry.key or entry.display_url):
            return  # a change log also names rows that were never indexed
        name = entry.display_url or entry.key
        logger.info("The document %s was named as deleted, but is not known", name)
        self._unknown += 1
        self._first_unknown = self._first_unknown or name


def _names(deleted: Entry, entry: Entry) -> bool:
    """Return whether a deletion names the document of another entry."""
    if deleted.key and deleted.key == entry.key:
        return True
    if entry.access_url in (deleted.access_url, *deleted.also):
        return True
    shown = entry.display_url or entry.access_url
    return bool(shown == deleted.display_url and not (deleted.key and entry.key))
