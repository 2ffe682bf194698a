"""A spider that knows nothing of ultracrawl."""

from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor


class PagesSpider(scrapy.Spider):
    """Follows all links of the intranet and yields an item a page."""

    name = "pages"
    allowed_domains = ("127.0.0.1",)
    start_urls = ("http://127.0.0.1:8000/",)
    links = LinkExtractor()

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        """Yield what is to be found, and the links."""
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "author": response.css("meta[name=author]::attr(content)").get(),
            "text": " ".join(response.css("body ::text").getall()),
        }
        yield from response.follow_all(self.links.extract_links(response), callback=self.parse)
