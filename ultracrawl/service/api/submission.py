"""URLs that somebody submits: judged as links are, and asked for by the next crawl."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from ultracrawl.crawl.inspection.explanation import Explanation, explain
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.opening import open_state


def submit_urls(project: Project, source: DataSource, urls: Sequence[str]) -> dict[str, Any]:
    """Put URLs into the queue of a source that is not being crawled; what its rules exclude is returned with the rule.

    Each is asked for as a start URL is, at depth 0. Raises `UserError` while the source is being crawled, `StateError`.
    """
    judged = [explain(project, source, url) for url in dict.fromkeys(urls)]
    accepted = {one.canonical_url: one for one in judged if one.accept}
    levels = compile_source(source, project).levels
    with closing(open_state(project, source.name)) as state:
        for url, one in accepted.items():
            seq = state.queue.next_seq()
            entry = QueueEntry(url_key(url), url, site_of(url), 0, seq, level=levels.of(url))
            _put_into_queue(
                state, entry if one.display_url == url else entry._replace(display_url=one.display_url)
            )
    return {
        "source": source.name,
        "accepted": list(accepted),
        "refused": [_refusal(one) for one in judged if not one.accept],
    }


def _put_into_queue(state: Store, entry: QueueEntry) -> None:
    if state.records.get_record(entry.key) is None:
        state.records.discover_url(entry, time.time())
    else:
        state.queue.dequeue_urls([entry.key])
        state.queue.requeue_url(entry)
    state.flush()


def _refusal(one: Explanation) -> dict[str, Any]:
    first = next(decision for decision in one.decisions if not decision.accept)
    return {"url": one.url, "stage": first.stage, "rule": first.rule, "reason": first.reason}
