"""Which documents are as they were by what their lister says, and which have to be read anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.agents.entry_texts import content_of, pack_entry, unpack_entry
from ultracrawl.crawl.listing.answers import stored_validators
from ultracrawl.model import UrlOutcome
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.agents.port import Entry
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.model import UrlRecord
    from ultracrawl.stores import Store

_GOOD = frozenset(
    {UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.UNMODIFIED, UrlOutcome.NOT_MODIFIED, UrlOutcome.PENDING}
)


def is_vouched_for(context: CrawlContext, key: int, record: UrlRecord, entry: Entry) -> bool:
    """Whether nothing has changed since the visit that a record tells of, and what came of it holds."""
    if not entry.validators or stored_validators(entry) != record.etag:
        return False
    if record.outcome is UrlOutcome.DUPLICATE:
        return _stays_copy(context, key, record, entry)
    left_out = record.outcome is UrlOutcome.NOT_INDEXED and record.removal is None
    return left_out or (record.outcome in _GOOD and record.retained)


def _stays_copy(context: CrawlContext, key: int, record: UrlRecord, entry: Entry) -> bool:
    """Whether a known copy needs no visit; what is said of it is kept for the time when it takes the place."""
    if not context.documents.remains_duplicate(record):
        return False
    if context.store.documents.retained_document(Retained.LISTED, key) is None:  # it had the place once
        context.store.documents.retain_document(Retained.LISTED, key, pack_entry(entry))
    return True


def vouched_outcome(record: UrlRecord) -> UrlOutcome:
    """Return as what a document counts that is not visited."""
    return UrlOutcome.DUPLICATE if record.outcome is UrlOutcome.DUPLICATE else UrlOutcome.NOT_MODIFIED


def says_other(store: Store, key: int, entry: Entry) -> bool:
    """Whether a lister says something else of a document of a web server than when it was read last."""
    if entry.validators or entry.body is not None:
        return False
    before = store.documents.retained_document(Retained.LISTED, key)
    return before is not None and content_of(unpack_entry(before)) != content_of(entry)
