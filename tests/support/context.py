"""A crawl's context made by hand, with the ports that a test puts into it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from ultracrawl.rules.urls.site_table import NO_SITES
from ultracrawl.run.context import CrawlContext
from ultracrawl.run.crawl_run import CrawlRun
from ultracrawl.run.hooks import Hooks
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.stores import RunMark
from ultracrawl.stores.lease_renewer import LeaseRenewer


def made_context(
    source: object = None,
    *,
    rules: object = None,
    project: object = None,
    clock: Callable[[], float] = time.time,
    store: object = None,
    sites: object = None,
    documents: object = None,
    endings: object = None,
    queue: object = None,
    replay: bool = False,
) -> CrawlContext:
    """Return the context of run 1 of a source that is called `s`; why it was told to end is in `context.run.ended`."""
    source = source if source is not None else SimpleNamespace(name="s", type="web")
    rules = rules if rules is not None else SimpleNamespace(overlays=NO_SITES, overlay_of=NO_SITES.find)
    project = project if project is not None else SimpleNamespace(state=SimpleNamespace(path=Path("/")))
    ended: list[str] = []
    run = cast("Any", CrawlRun(ended.append, force=False, replay=replay))
    run.ended, run.mark, run.counters = ended, RunMark(1, 0.0), RunCounters("s", "1")
    context = CrawlContext(cast("Any", project), cast("Any", source), cast("Any", rules), clock, run, Hooks())
    for name, port in (
        ("leases", LeaseRenewer(lambda: True)),
        ("store", store),
        ("sites", sites),
        ("documents", documents),
        ("endings", endings),
        ("queue", queue),
    ):
        if port is not None:
            setattr(context.ports, name, port)
    return context
