"""The decisions of the filters of a source on a URL before it is fetched."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ultracrawl.crawl.portal_filters.filtering import Filtering
from ultracrawl.model import Decision
from ultracrawl.sources import DataSource

FILTERS = "filters"
"""The stage of filter decisions."""
_PASSES = "MetaData allows it; Data is evaluated after the fetch"


def filter_stages(source: DataSource, url: str, depth: int, address: str = "") -> Iterator[Decision]:
    """Yield the decision of each filter of a source, if it has filters. Raises `UserError`."""
    if source.filters.file is None:
        return
    filtering = Filtering(source.filters, time.time)
    filtering.start()
    views = filtering.judge(url, depth, address)
    filtering.release()
    section = source.filters
    if views.denied:
        yield Decision(False, FILTERS, views.cause.subject, f"both deny it: {views.cause}")
        return
    if views.enumeration is None:
        yield Decision(True, FILTERS, section.enumeration, "denies it, so its links are not followed")
    else:
        yield Decision(True, FILTERS, section.enumeration, _PASSES)
    if views.generation is None:
        reason = f"denies it, so it gets no description: {views.cause}"
        yield Decision(True, FILTERS, section.generation, reason, index=False)
    else:
        yield Decision(True, FILTERS, section.generation, _PASSES)
