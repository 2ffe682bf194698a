"""From a source to its filters."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.extensions.filtering.desk import Filtering
    from ultracrawl.sources import DataSource


def filtering_of(source: DataSource, kept: Filtering | None) -> Filtering | None:
    """Return the filters of a source, if it has any: those that its process keeps for all crawls, or new ones.

    Raises `DefinitionError` or `UserError`.
    """
    if kept is not None or not source.filters.file:
        return kept
    from ultracrawl.extensions.filtering.desk import Filtering  # noqa: PLC0415 - slow, and few sources have filters

    return Filtering(source.filters, time.time, source.conversion.timeout)
