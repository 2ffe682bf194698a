"""A source as a spider class in a module, found by Scrapy's `SPIDER_MODULES` like any other."""

from pathlib import Path

from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.spiders import SourceSpider

_PROJECT = require(read_definitions(Path(__file__).with_name("sample.yaml")))


class Sample(SourceSpider):
    """The sample intranet, which `examples/serve.py` serves."""

    name = "sample"
    project = _PROJECT
    source = _PROJECT.sources["sample"]
