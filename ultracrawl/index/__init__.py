"""The full-text index: engines, the durable document cache in front of them, and the process that writes to them.

`IndexEngine` is the interface. It takes `IndexDocument`, `Deletion` and `NewAnchors` (together `Change`), and a
`SearchQuery` with its `Filter`s, and returns a `SearchResult` with its `Hit`s and `FacetValue`s. `whoosh.WhooshIndex`
and `tantivy.TantivyIndex` are the engines; `engines.open_index` opens one by name. `words` is the text analysis,
`query` builds query trees, `hits` ranks and presents matches. `writing.cache.DocumentCache` keeps changes safe until
they are committed; `writing.process.IndexProcess` applies them in a separate process.
"""

from ultracrawl.index.budget import SearchBudget, SearchLimit
from ultracrawl.index.engine import (
    Change,
    Deletion,
    FacetValue,
    Hit,
    IndexDocument,
    IndexEngine,
    IndexFacts,
    MatchingSection,
    NewAnchors,
    QueryFlaw,
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
    "MatchingSection",
    "NewAnchors",
    "Operator",
    "QueryFlaw",
    "Reading",
    "SearchBudget",
    "SearchLimit",
    "SearchQuery",
    "SearchResult",
    "as_html",
]
