"""Keeps a full-text search index in sync with data sources, on one Scrapy-based engine.

Public API: `crawl` crawls the sources of a definition file, or a URL; `Searcher` searches the index. A mistake in a
definition or query raises `UserError`, failed work (disk, index, network) raises `WorkError`; `UltracrawlError` is the
base of both. All names are imported on first use.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
