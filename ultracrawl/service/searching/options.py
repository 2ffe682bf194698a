"""The options of searching."""

from __future__ import annotations

import os

from ultracrawl.dataclass import dataclass
from ultracrawl.index.hits.document_cache import DOCUMENT_CACHE_BYTES


@dataclass(frozen=True, slots=True)
class SearchingOptions:
    """The options of searching in a service; sizes are in bytes."""

    processes: int = os.cpu_count() or 1
    """Searches of one requester that run at a time. There is one process more, so that nobody holds the last one."""
    timeout: float = 10.0
    """Seconds of processor time after which a search is ended with its process (`system.wall_guard`)."""
    document_cache: int = DOCUMENT_CACHE_BYTES
    """Size of the documents that a process keeps for the next searches; 0: none."""
    result_cache: int = 32_000_000
    """Size of the results that are kept; 0: none."""
    large: int = 400_000_000
    """Memory of a process above which it is replaced after its search."""
    too_large: int = 1_500_000_000
    """Memory of a process above which its search is ended."""
