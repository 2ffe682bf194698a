"""Spiders made from data-source definitions.

`SourceSpider` (what a generated spider does, and the base class for your own), `SourceSpiderLoader` (Scrapy's
`SPIDER_LOADER_CLASS`: one spider a definition).
"""

from ultracrawl.spiders.loader import SourceSpiderLoader
from ultracrawl.spiders.source import SourceSpider

__all__ = ["SourceSpider", "SourceSpiderLoader"]
