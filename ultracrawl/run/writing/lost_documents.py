"""Queues the URLs of documents that never reached the index and do not wait for it any more."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.sources import CompiledSource
from ultracrawl.stores import QueueEntry, Store

logger = logging.getLogger(__name__)


def queue_lost(state: Store, rules: CompiledSource, keys: Sequence[int]) -> None:
    """Queue known URLs whose documents were lost, durably, for the run that goes on or else for the next one.

    What a lister names is queued by its listing: it begins again, and leaves out what is vouched for.
    """
    if not keys:
        return
    if rules.listed:
        state.forget_listings()
    else:
        for key, record in sorted(state.records.get_records(keys).items()):
            url, seq = record.url, state.queue.next_seq()
            level, shown = rules.levels.of(url), record.display_url
            entry = QueueEntry(key, url, site_of(url), record.depth, seq, 0, shown, level=level)
            state.queue.requeue_url(entry)
        state.visits.note_seen(keys)
        state.flush()
    logger.warning("%d documents had not reached the index and are fetched again", len(keys))
