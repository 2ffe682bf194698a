"""The full-text index: engines, the durable document cache in front of them, and the process that writes to them.

`IndexEngine` is the interface; `IndexDocument`, `Deletion` and `NewAnchors` (together `Change`) go in, `SearchQuery`
with its `Filter`s asks, `SearchResult` with its `Hit`s and `FacetValue`s answers.
`whoosh.WhooshIndex` and `tantivy.TantivyIndex` are engines, `engines.open_index` opens one by name. `words` says what
a word is, `query` what a query means. `writing.cache.DocumentCache` keeps changes safe until their commit;
`writing.process.IndexProcess` applies them in a process of its own.
"""

from ultracrawl.index.engine import (
    Change,
    Deletion,
    FacetValue,
    Hit,
    IndexDocument,
    IndexEngine,
    IndexFacts,
    NewAnchors,
    Reading,
    SearchQuery,
    SearchResult,
)
from ultracrawl.index.filters import Filter, Operator
from ultracrawl.index.hits.highlighting import as_html

__all__ = [
    "Change",
    "Deletion",
    "FacetValue",
    "Filter",
    "Hit",
    "IndexDocument",
    "IndexEngine",
    "IndexFacts",
    "NewAnchors",
    "Operator",
    "Reading",
    "SearchQuery",
    "SearchResult",
    "as_html",
]
