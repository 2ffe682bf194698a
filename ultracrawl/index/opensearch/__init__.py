"""The engine `opensearch` (extra of that name): an index on OpenSearch servers, version 2.19 or newer.

`OpenSearchIndex` is the engine; `fields` defines mapping and documents, `server` and `connection` send requests,
`aliases` makes and replaces indexes, `filling` copies documents into new ones, `fencing` shuts out former holders of a
source, `queries` compiles query trees, `searches` runs searches over what is behind the alias, `index_searcher` one of
them with the `frequencies` of its words. No other package uses the client library.
"""

from importlib.util import find_spec

from ultracrawl.errors import MissingExtraError

if find_spec("opensearchpy") is None:
    raise MissingExtraError("the index engine opensearch", "opensearch")

from ultracrawl.index.opensearch.opensearch_index import OpenSearchIndex

__all__ = ["OpenSearchIndex"]
