"""One run of one source, from its first request to its last commit.

* `CrawlContext`: the source, its compiled rules, the clock and the ports through which features act.
* `Feature`, `Hooks`: the base class of crawl features, and the registry that calls their hooks.
* `Recorder`: records and counts the one outcome of every visit.
* `Visit`: one URL from the frontier to its outcome.

Scrapy components get at them with `context_of(crawler)` and `feature_of(crawler, FeatureClass)`. Each feature has its
own package: `auth`, `discovery`, `indexing`, `inspection`, `listing`, `logs`, `placement`, `portal_filters`, `reading`,
`relations`, `removal`, `rendering`, `run`. All of them may use `transport` and `download_errors`.

The names below are imported on first use, because commands need only some of them and should not import Scrapy.
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


class _CallableModule(ModuleType):
    """Makes this package callable: importing it replaces the function `ultracrawl.crawl`, which must still work."""

    __call__ = staticmethod(crawl)


def __getattr__(name: str) -> object:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)


sys.modules[__name__].__class__ = _CallableModule
