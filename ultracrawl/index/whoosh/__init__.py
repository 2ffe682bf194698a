"""The default engine: an index directory in the format of Whoosh, which stock Whoosh reads as well.

`WhooshIndex` is the engine. `fields` says what is indexed how; `writer` makes the segments and joins them;
`mapped`, `segments`, `postings` and `evaluation` answer queries. No other package knows Whoosh.
"""

from ultracrawl.index.whoosh.whoosh_index import WhooshIndex

__all__ = ["WhooshIndex"]
