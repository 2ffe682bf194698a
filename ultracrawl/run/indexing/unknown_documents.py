"""Documents that an index has and the document table does not know, as after a loss of the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.stores import QueueEntry, Store

if TYPE_CHECKING:
    from ultracrawl.run.writing.writer import IndexWriter

MAX_FAILED_RUNS = 3
"""Failed runs of an unread page after which it is assumed to lead to nothing."""
_FAILED = (UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED)
_LEAVES = frozenset(RemovalReason)


def may_lead_further(state: Store) -> bool:
    """Return whether a page that could not be read yet may still lead to unknown documents."""
    return any(
        not record.checksum and record.failed_runs < MAX_FAILED_RUNS
        for outcome in _FAILED
        for record in state.records.all_records(outcome)
    )


def mark_unknown_documents(state: Store, writer: IndexWriter, urls: Iterable[str], now: float) -> None:
    """Create or update the records of unknown documents, so that `Deletions` removes them, or they stay.

    If the table knows the URL, its outcome counts: the document of a page that is gone leaves, that of a page that
    only failed stays, and so does one that was indexed although it counts as lost. If the URL is now shown for another
    document, the unknown one is deleted at once.
    """
    for url in urls:
        key = url_key(url)
        known = state.records.get_record(key)
        if known is not None and known.searchable:
            writer.remove_unknown([url])
            continue
        if known is None:
            state.records.discover_url(
                QueueEntry(key, url, site_of(url), 0, state.queue.next_seq()), now, queued=False
            )
            state.flush()
            removal: Removal | None = Removal(RemovalReason.UNKNOWN, Cause(CauseCode.STATE_LOST))
        elif known.outcome.value in _LEAVES:
            removal = Removal(RemovalReason(known.outcome.value), known.cause)
        else:
            removal = None
        record = known or state.records.get_record(key)
        assert record is not None
        state.records.amend_record(key, replace(record, display_url="", indexed=True, removal=removal))
    state.flush()
