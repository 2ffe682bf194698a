"""Crawls on other machines through Scrapyd (the profiles of schedules), and the `scrapy crawl` that it runs.

The names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
