"""What the process of a crawl tells on its way."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

from ultracrawl.model import UrlOutcome
from ultracrawl.service.supervisor.child import progress_of
from ultracrawl.stores.control_channel import SiteWait


def test_errors_are_those_of_servers_networks_and_this_program() -> None:
    outcomes = Counter(
        {
            UrlOutcome.NEW: 9,
            UrlOutcome.GONE: 7,
            UrlOutcome.HTTP_ERROR: 1,
            UrlOutcome.NETWORK_ERROR: 2,
            UrlOutcome.FAILED: 4,
        }
    )
    report = SimpleNamespace(run_id="3", fetched=16, indexed=9, deleted=0, queued=5, outcomes=outcomes)
    wait = SiteWait("h.test", "refused", 60.0)
    context = SimpleNamespace(report=report, visits={}, run=SimpleNamespace(wait=wait))
    crawl: Any = SimpleNamespace(context=context, paused=False, quiet_seconds=0.0)
    progress = progress_of(crawl, 0.0)
    counts = progress.counts
    assert (counts["errors"], counts["failed"], counts["done"]) == (7, 4, 23)
    assert progress.wait == str(wait)
