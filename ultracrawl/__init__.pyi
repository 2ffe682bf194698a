from ultracrawl.errors import UltracrawlError as UltracrawlError
from ultracrawl.errors import UserError as UserError
from ultracrawl.errors import WorkError as WorkError
from ultracrawl.index.searching import Searcher as Searcher
from ultracrawl.python_api import crawl as crawl

__version__: str
