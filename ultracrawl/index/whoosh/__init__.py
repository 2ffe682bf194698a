"""The default engine: an index directory in the format of Whoosh, which stock Whoosh can read.

`WhooshIndex` is the engine. `fields` defines the schema; `writer` writes and merges segments; `mapped_reader`,
`segments`, `postings` and `evaluation` run queries. No other package uses Whoosh.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from types import ModuleType


@contextmanager
def _replaced_cached_property() -> Iterator[None]:
    """Replace the package `cached_property`, while Whoosh is imported, by the class of the standard library.

    Whoosh uses it for one attribute, but the package imports asyncio, which takes a tenth of the time of a search.
    """
    name = "cached_property"
    if name in sys.modules:
        yield
        return
    stand_in = ModuleType(name)
    vars(stand_in)[name] = cached_property
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        del sys.modules[name]


with _replaced_cached_property():
    from ultracrawl.index.whoosh.whoosh_index import WhooshIndex

__all__ = ["WhooshIndex"]
