"""The baseline of `peers.py` and `latency.py`: a plain CrawlSpider with Scrapy's defaults and Whoosh's stock writer.

    python benchmarks/baseline.py URL INDEX_DIR
    python benchmarks/baseline.py --urls FILE --at-once 64 --per-site 2    # many sites, no index

Prints one JSON line.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
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

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @classmethod
    def from_crawler(cls, crawler: Any) -> WhooshPipeline:
        return cls(Path(crawler.settings["INDEX_DIRECTORY"]))

    def open_spider(self) -> None:
        schema = fields.Schema(
            url=fields.ID(unique=True, stored=True),
            title=fields.TEXT(stored=True),
            text=fields.TEXT(stored=True),
        )
        self._directory.mkdir(parents=True, exist_ok=True)
        self.writer = create_in(self._directory, schema).writer()

    def process_item(self, item: dict[str, str]) -> dict[str, str]:
        self.writer.update_document(**item)
        return item

    def close_spider(self) -> None:
        self.writer.commit()


class Plain(CrawlSpider):
    """A spider as a Scrapy user would write it: follows every link within its hosts."""

    name = "plain"
    pages = 0
    rules = (Rule(LinkExtractor(), callback="page", follow=True),)
    custom_settings: ClassVar[dict[str, Any]] = {
        "LOG_LEVEL": "ERROR",
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, urls: Sequence[str]) -> None:
        super().__init__()
        self.start_urls = list(urls)
        self.allowed_domains = [str(urlsplit(url).hostname) for url in urls]

    def parse_start_url(self, response: Any) -> Any:
        return self.page(response)

    def page(self, response: Any) -> Any:
        type(self).pages += 1
        texts = response.xpath("//body//text()[not(ancestor::script or ancestor::style)]").getall()
        title = response.xpath("//title/text()").get("")
        yield {"url": response.url, "title": title, "text": " ".join(" ".join(texts).split())}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", nargs="?")
    parser.add_argument("index", nargs="?", help="folder of the index; none is made without it")
    parser.add_argument("--urls", type=Path, help="a file of first URLs, one a line")
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--per-site", type=int, default=32)
    options = parser.parse_args()
    limits = {"CONCURRENT_REQUESTS": options.at_once, "CONCURRENT_REQUESTS_PER_DOMAIN": options.per_site}
    index = {"ITEM_PIPELINES": {WhooshPipeline: 100}, "INDEX_DIRECTORY": options.index}
    process = AsyncCrawlerProcess({**limits, **(index if options.index else {})})
    process.crawl(Plain, urls=options.urls.read_text().split() if options.urls else [options.url])
    process.start()
    print(json.dumps({"pages": Plain.pages}))


if __name__ == "__main__":
    main()
