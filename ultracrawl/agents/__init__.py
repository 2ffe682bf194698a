"""Kinds of sources with a lister and a fetcher, one folder each; `port` defines their interface.

The public names for authors of agents are exported here: `CrawlerAgent` to subclass, `UrlData` for its documents.
`DocumentFile` is a built-in agent. All names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
