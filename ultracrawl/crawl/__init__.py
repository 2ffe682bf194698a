"""What one crawl of one source works with, from its first request to its last commit.

`CrawlSession` (opens state, cache and index process, closes them at the end), `Recorder` (gives every visit its
one outcome and counts it), `Visit` (one URL on its way through the crawl), `IndexWriter` (documents on their way
from the cache to the index). What belongs together has a room of its own: `access`, `feeding`, `filtering`,
`javascript`, `leaving`, `logs`, `outlook`, `relations`, `run` and `site_files`.
"""

from ultracrawl.crawl.indexing.writer import IndexWriter
from ultracrawl.crawl.recorder import Recorder
from ultracrawl.crawl.session import CrawlSession
from ultracrawl.crawl.visit import LinkQueue, Visit, visit_of

__all__ = ["CrawlSession", "IndexWriter", "LinkQueue", "Recorder", "Visit", "visit_of"]
