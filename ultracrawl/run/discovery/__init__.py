"""Discovery from what sites publish about themselves: robots.txt, sitemaps and feeds.

`SitemapReader` is imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
