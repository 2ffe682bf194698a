from .fetcher import TableFetcher as TableFetcher
from .lister import TableLister as TableLister
