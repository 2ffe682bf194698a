"""Decides from the entry of a lister whether a document is unchanged or has to be fetched again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.agents.entry_texts import content_key, pack_entry, unpack_entry
from ultracrawl.crawl.listing.answers import stored_validators
from ultracrawl.model import UrlOutcome
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.agents.port import Entry
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.model import UrlRecord
    from ultracrawl.stores import Store

_INDEXED = frozenset(
    {UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.UNMODIFIED, UrlOutcome.NOT_MODIFIED, UrlOutcome.PENDING}
)


def is_vouched_for(context: CrawlContext, key: int, record: UrlRecord, entry: Entry) -> bool:
    """Return whether a document is unchanged since its recorded visit, and the outcome of that visit still holds."""
    if not entry.validators or stored_validators(entry, context.rules.recipe) != record.etag:
        return False
    if record.outcome is UrlOutcome.DUPLICATE:
        return _stays_copy(context, key, record, entry)
    left_out = record.outcome is UrlOutcome.NOT_INDEXED and record.removal is None
    return left_out or (record.outcome in _INDEXED and record.retained)


def _stays_copy(context: CrawlContext, key: int, record: UrlRecord, entry: Entry) -> bool:
    """Return whether a known duplicate needs no visit; its entry is kept in case it takes the place of the other."""
    if not context.documents.remains_duplicate(record):
        return False
    documents = context.store.documents
    if documents.retained_document(Retained.LISTED, key) is None:  # it was the indexed one before
        documents.retain_document(Retained.LISTED, key, pack_entry(entry))
    return True


def vouched_outcome(record: UrlRecord) -> UrlOutcome:
    """Return the outcome that is counted for a document that is not visited."""
    return UrlOutcome.DUPLICATE if record.outcome is UrlOutcome.DUPLICATE else UrlOutcome.NOT_MODIFIED


def has_new_metadata(store: Store, key: int, entry: Entry) -> bool:
    """Return whether a lister's metadata of a document on a web server has changed since it was last read."""
    if entry.validators or entry.body is not None:
        return False
    before = store.documents.retained_document(Retained.LISTED, key)
    return before is not None and content_key(unpack_entry(before)) != content_key(entry)
