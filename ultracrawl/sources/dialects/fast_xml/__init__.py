"""Crawl collections of FAST Search, read from their XML files as they stand.

`read_collections` reads a file, with the defaults file beside it, and returns `Loaded`: each collection is a
source. `OPTIONS` is the list of all options with what each does here.
"""

from ultracrawl.sources.dialects.fast_xml.options import OPTIONS, OptionSpec
from ultracrawl.sources.dialects.fast_xml.reader import read_collections

__all__ = ["OPTIONS", "OptionSpec", "read_collections"]
