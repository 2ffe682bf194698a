"""Spiders made from data-source definitions.

`SourceSpider`: the base class of generated spiders and of your own. `SourceSpiderLoader`: Scrapy's
`SPIDER_LOADER_CLASS`, with one spider for each definition.

The names are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
