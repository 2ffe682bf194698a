"""The engine `tantivy` (extra of that name): about ten times as fast as Whoosh, in a format of its own.

`TantivyIndex` is the engine; `fields` says what is indexed how, `generations` where, `queries` turns query trees
into tantivy's, `answering` answers one search, `integrity` checks files. No other package knows tantivy.
"""

from ultracrawl.errors import MissingExtraError

try:
    import tantivy  # noqa: F401
except ModuleNotFoundError:
    raise MissingExtraError("the index engine tantivy", "tantivy") from None

from ultracrawl.index.tantivy.tantivy_index import TantivyIndex

__all__ = ["TantivyIndex"]
