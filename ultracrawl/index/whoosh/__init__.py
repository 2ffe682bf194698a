"""The default engine: an index directory in the format of Whoosh, which stock Whoosh reads as well.

`WhooshIndex` is the engine. `fields` says what is indexed how; `writer` makes the segments and joins them;
`mapped`, `segments`, `postings` and `evaluation` answer queries. No other package knows Whoosh.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from types import ModuleType


@contextmanager
def _without_event_loop() -> Iterator[None]:
    """Let Whoosh, while it is imported, take the `cached_property` of Python for that of the package of this name.

    Of that package it uses just this, for one attribute, and the package imports asyncio with all that belongs to it:
    a tenth of what a search takes.
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


with _without_event_loop():
    from ultracrawl.index.whoosh.whoosh_index import WhooshIndex

__all__ = ["WhooshIndex"]
