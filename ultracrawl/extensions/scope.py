"""What happens when the definition changed: known URLs outside the new scope leave without being fetched."""

from __future__ import annotations

from ultracrawl.extensions.feed import IndexFeed
from ultracrawl.model import RunReport
from ultracrawl.sources import CompiledSource
from ultracrawl.state import StateStore
from ultracrawl.urls import url_key

BATCH = 1000


def drop_outside(state: StateStore, feed: IndexFeed, rules: CompiledSource, report: RunReport) -> int:
    """Drop every known URL that the rules no longer admit from queue, table and index; returns how many.

    Source: Ultra Search 9.3, change of rules. The removals reach the durable cache before the records go.
    """
    outside: list[int] = []
    for record in state.records():
        rule = rules.boundary.rejects(record.url, record.depth)
        if rule is None or record.url in rules.seeds:
            continue
        report.rejected_by[rule] += 1
        key = url_key(record.url)
        if record.indexed or record.handed:
            feed.delete(key, record.shown_url)
        outside.append(key)
    feed.sync()
    for start in range(0, len(outside), BATCH):
        state.drop(outside[start : start + BATCH])
    return len(outside)
