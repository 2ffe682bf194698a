"""The baseline of `peers.py`: a plain CrawlSpider with Scrapy's defaults and Whoosh's stock writer.

Run as `python benchmarks/baseline.py URL INDEX_DIR`; prints one JSON line.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from whoosh import fields
from whoosh.index import create_in


class WhooshPipeline:
    """Adds every item with the stock writer and commits once at the end."""

    def open_spider(self) -> None:
        schema = fields.Schema(
            url=fields.ID(unique=True, stored=True),
            title=fields.TEXT(stored=True),
            text=fields.TEXT(stored=True),
        )
        directory = Path(sys.argv[2])
        directory.mkdir(parents=True, exist_ok=True)
        self.writer = create_in(directory, schema).writer()

    def process_item(self, item: dict[str, str]) -> dict[str, str]:
        self.writer.update_document(**item)
        return item

    def close_spider(self) -> None:
        self.writer.commit()


class Plain(CrawlSpider):
    """Follows every link of one host, as a Scrapy user would write it."""

    name = "plain"
    pages = 0
    rules = (Rule(LinkExtractor(), callback="page", follow=True),)
    custom_settings: ClassVar[dict[str, Any]] = {
        "ITEM_PIPELINES": {WhooshPipeline: 100},
        "LOG_LEVEL": "ERROR",
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]
        self.allowed_domains = [urlsplit(url).hostname]

    def parse_start_url(self, response: Any) -> Any:
        return self.page(response)

    def page(self, response: Any) -> Any:
        type(self).pages += 1
        texts = response.xpath("//body//text()[not(ancestor::script or ancestor::style)]").getall()
        title = response.xpath("//title/text()").get("")
        yield {"url": response.url, "title": title, "text": " ".join(" ".join(texts).split())}


def main() -> None:
    started = time.perf_counter()
    process = AsyncCrawlerProcess()
    process.crawl(Plain, url=sys.argv[1])
    process.start()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = time.perf_counter() - started
    print(
        json.dumps(
            {
                "pages": Plain.pages,
                "seconds": round(seconds, 2),
                "pages_per_second": round(Plain.pages / seconds, 1),
                "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
                "peak_mb": round(usage.ru_maxrss / 1024),
            }
        )
    )


if __name__ == "__main__":
    main()
