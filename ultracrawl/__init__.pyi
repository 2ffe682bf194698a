from .errors import UltracrawlError as UltracrawlError
from .errors import UserError as UserError
from .errors import WorkError as WorkError
from .index.searching import Searcher as Searcher
from .python_api import crawl as crawl

__version__: str
