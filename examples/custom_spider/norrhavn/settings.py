"""Scrapy settings of the project."""

import os

BOT_NAME = "norrhavn"
ADDONS = {"ultracrawl.addon.UltracrawlAddon": 500}
SPIDER_LOADER_CLASS = "ultracrawl.spiders.SourceSpiderLoader"
ULTRACRAWL_CONFIG = os.environ.get("ULTRACRAWL_CONFIG", "norrhavn:")
ULTRACRAWL_DATA = os.environ.get("ULTRACRAWL_DATA", "")
