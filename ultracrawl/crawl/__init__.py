"""One run of one source, from its first request to its last commit.

`CrawlContext` (the source, its rules and the ports that features act through), `Feature` and `Hooks` (what a feature
takes part in), `Recorder` (gives every visit its one outcome and counts it), `Visit` (one URL on its way through the
crawl). Components of Scrapy ask for `context_of` a crawler and for the `feature_of` it that they need. A feature has a
room of its own: `auth`, `discovery`, `indexing`, `inspection`, `logs`, `placement`, `portal_filters`, `reading`,
`relations`, `removal`, `rendering`, `run` and `user_code`; `transport` and `download_errors` stand between all of
them and the download handlers.
"""

import sys
from types import ModuleType

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
from ultracrawl.face import crawl

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


sys.modules[__name__].__class__ = _Callable
