"""The features of a crawl that its scheduler uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.run import parts_of
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.control.orders import CrawlControl
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.run.indexing.items import ItemTracker
from ultracrawl.run.logs.crawl_logs import CrawlLogs
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.rewriters import SourceRewriter
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.run.traps.recognition import TrapRecognition

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class Features(NamedTuple):
    """The features of the crawl that the scheduler uses."""

    control: CrawlControl
    limits: RunLimits
    watch: VisitWatch
    items: ItemTracker
    conversion: DocumentConverter
    hosts: HostAddresses
    rewriting: SourceRewriter
    robots: RobotsCache
    sitemaps: SitemapManager
    logs: CrawlLogs
    traps: TrapRecognition | None
    """None if the source recognises none."""

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return the features of the crawl of a crawler."""
        parts = parts_of(crawler)
        return cls(
            parts[CrawlControl],
            parts[RunLimits],
            parts[VisitWatch],
            parts[ItemTracker],
            parts[DocumentConverter],
            parts[HostAddresses],
            parts[SourceRewriter],
            parts[RobotsCache],
            parts[SitemapManager],
            parts[CrawlLogs],
            parts.get(TrapRecognition),
        )
