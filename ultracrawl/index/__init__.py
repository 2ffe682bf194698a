"""The full-text index: engines, the durable document cache in front of them, and the process that writes to them.

`IndexEngine` is the interface. It takes `IndexDocument`, `Deletion` and `NewAnchors` (together `Change`), and a
`SearchQuery` with its `Filter`s, and returns a `SearchResult` with its `Hit`s and `FacetValue`s. `whoosh.WhooshIndex`
and `tantivy.TantivyIndex` are the engines; `engines.open_index` opens one by name. `words` is the text analysis,
`query` builds query trees, `hits` ranks and presents matches. `writing.cache.DocumentCache` keeps changes safe until
they are committed; `writing.process.IndexProcess` applies them in a separate process.

The names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
