"""The engine `tantivy` (extra of that name): about ten times as fast as Whoosh, in its own file format.

`TantivyIndex` is the engine; `fields` defines the schema, `generations` the folders, `queries` compiles query trees to
tantivy queries, `index_searcher` runs a search, `integrity` verifies files. No other package uses tantivy.
"""

from ultracrawl.errors import MissingExtraError

try:
    import tantivy  # noqa: F401
except ModuleNotFoundError:
    raise MissingExtraError("the index engine tantivy", "tantivy") from None

from ultracrawl.index.tantivy.tantivy_index import TantivyIndex

__all__ = ["TantivyIndex"]
