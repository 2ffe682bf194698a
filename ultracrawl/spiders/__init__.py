"""Spiders made from data-source definitions.

`SourceSpider`: the base class of generated spiders and of your own. `SourceSpiderLoader`: Scrapy's
`SPIDER_LOADER_CLASS`, with one spider for each definition.
"""

from ultracrawl.spiders.loader import SourceSpiderLoader
from ultracrawl.spiders.source import SourceSpider

__all__ = ["SourceSpider", "SourceSpiderLoader"]
