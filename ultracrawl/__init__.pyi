from ultracrawl.errors import UltracrawlError as UltracrawlError
from ultracrawl.errors import UserError as UserError
from ultracrawl.errors import WorkError as WorkError
from ultracrawl.face import crawl as crawl
from ultracrawl.index.searching import Searcher as Searcher

__version__: str
