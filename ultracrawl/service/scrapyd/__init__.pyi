from .client import ScrapydClient as ScrapydClient
from .crawls import crawl_by_scrapyd as crawl_by_scrapyd
from .crawls import report_of as report_of
