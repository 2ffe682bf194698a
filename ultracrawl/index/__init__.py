"""The full-text index: engines, the durable document cache in front of them, and the process that feeds them.

`IndexEngine` is the interface; `IndexDocument` and `Deletion` (together `Change`) go in, `SearchQuery` asks,
`SearchResult` with its `Hit`s answers. `memory.MemoryIndex` and `whoosh.WhooshIndex` are engines,
`open.open_index` opens one by name. `cache.DocumentCache` keeps changes safe until their commit;
`process.IndexProcess` applies them in a process of its own, `inline.InlineIndexer` in this one.
"""

from ultracrawl.index.engine import (
    Change,
    Deletion,
    Hit,
    IndexDocument,
    IndexEngine,
    SearchQuery,
    SearchResult,
)

__all__ = ["Change", "Deletion", "Hit", "IndexDocument", "IndexEngine", "SearchQuery", "SearchResult"]
