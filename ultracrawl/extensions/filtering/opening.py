"""From a source to its filters."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.extensions.filtering.desk import Filtering
    from ultracrawl.sources import DataSource


def filtering_of(source: DataSource) -> Filtering | None:
    """Return the filters of a source, None if it has none. Raises `DefinitionError` or `UserError`."""
    if not source.filters.file:
        return None
    from ultracrawl.extensions.filtering.desk import Filtering  # noqa: PLC0415 - slow, and few sources have filters

    return Filtering(source.filters, time.time)
