"""The Scrapy settings of this checkout: those of ultracrawl, and the sample intranet as a spider."""

from ultracrawl.settings import *  # noqa: F403

SPIDER_MODULES = ["examples.spiders"]
