"""One run of one source, from its first request to its last commit.

`CrawlContext` (the source, its rules and the ports that features act through), `Feature` and `Hooks` (what a feature
takes part in), `Recorder` (gives every visit its one outcome and counts it), `Visit` (one URL on its way through the
crawl). Components of Scrapy ask for `context_of` a crawler and for the `feature_of` it that they need. A feature has a
room of its own: `auth`, `discovery`, `indexing`, `inspection`, `logs`, `placement`, `portal_filters`, `reading`,
`relations`, `removal`, `rendering`, `run` and `user_code`; `transport` and `download_errors` stand between all of
them and the download handlers. What is named here is loaded when it is used: commands need a part of it, and no Scrapy.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from ultracrawl.python_api import crawl

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.hooks import Feature, Hooks
    from ultracrawl.crawl.lifecycle import (
        begin_crawl,
        context_of,
        end_crawl,
        feature_of,
        has_definition,
        running_crawl,
    )
    from ultracrawl.crawl.ports import LinkQueue
    from ultracrawl.crawl.recorder import Recorder
    from ultracrawl.crawl.run.running import RunningCrawl
    from ultracrawl.crawl.visit import Visit, visit_of
    from ultracrawl.crawl.writing.writer import IndexWriter

_LAZY_NAMES = {
    "CrawlContext": "context",
    "Feature": "hooks",
    "Hooks": "hooks",
    "begin_crawl": "lifecycle",
    "context_of": "lifecycle",
    "end_crawl": "lifecycle",
    "feature_of": "lifecycle",
    "has_definition": "lifecycle",
    "running_crawl": "lifecycle",
    "LinkQueue": "ports",
    "Recorder": "recorder",
    "RunningCrawl": "run.running",
    "Visit": "visit",
    "visit_of": "visit",
    "IndexWriter": "writing.writer",
}

__all__ = [
    "CrawlContext",
    "Feature",
    "Hooks",
    "IndexWriter",
    "LinkQueue",
    "Recorder",
    "RunningCrawl",
    "Visit",
    "begin_crawl",
    "context_of",
    "end_crawl",
    "feature_of",
    "has_definition",
    "running_crawl",
    "visit_of",
]


class _Callable(ModuleType):
    """A wing that takes the place of the function `ultracrawl.crawl` when it is imported, and so does the same."""

    __call__ = staticmethod(crawl)


def __getattr__(name: str) -> object:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)


sys.modules[__name__].__class__ = _Callable
