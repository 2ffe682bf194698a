"""Documents that an index has and the document table does not know, as after the state was lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.stores import QueueEntry, Store

if TYPE_CHECKING:
    from ultracrawl.crawl.writing.writer import IndexWriter

PATIENCE = 3
"""Runs in which a page may fail that was never read: as long nobody knows what it leads to."""
_FAILED = (UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED)
_STAYS = (*_FAILED, UrlOutcome.QUEUED, UrlOutcome.PENDING)


def may_lead_further(state: Store) -> bool:
    """Return whether a page that could not be read yet may still lead to documents that nothing else leads to."""
    return any(
        not record.checksum and record.failed_runs < PATIENCE
        for outcome in _FAILED
        for record in state.records.all_records(outcome)
    )


def mark_strangers(state: Store, feed: IndexWriter, urls: Iterable[str], now: float) -> None:
    """Give documents of the index a record again, by which `Deletions` takes them out, or by which they stay.

    What the table says of their URLs counts: a page that is gone takes its document with it, one that only failed does
    not. A document whose URL shows another one by now is no question of its own.
    """
    for url in urls:
        key = url_key(url)
        known = state.records.get_record(key)
        if known is not None and known.searchable:
            feed.remove_unknown([url])
            continue
        if known is None:
            state.records.discover_url(
                QueueEntry(key, url, site_of(url), 0, state.queue.next_seq()), now, queued=False
            )
            state.flush()
            removal: Removal | None = Removal(RemovalReason.UNKNOWN, Cause(CauseCode.STATE_LOST))
        elif known.outcome in _STAYS:
            removal = None
        else:
            removal = Removal(RemovalReason(known.outcome.value), known.cause)
        record = known or state.records.get_record(key)
        assert record is not None
        state.records.amend_record(key, replace(record, display_url="", indexed=True, removal=removal))
    state.flush()
