"""Opens all pages of one host in Chromium with scrapy-playwright, and extracts links and text, nothing else.

A page is complete when nothing has been asked for half a second. Nothing is stored, there is no index. Run it with the
Python that has scrapy-playwright, the start URL, the browser, and how many pages are open at once; prints one line of
JSON.
"""

import json
import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy_playwright.page import PageMethod

TEXT = "//body//text()[not(ancestor::script or ancestor::style)]"
COUNTS = {"pages": 0, "characters": 0}


class Pages(scrapy.Spider):
    """Follows all links."""

    name = "pages"

    def request(self, url):
        methods = [PageMethod("wait_for_load_state", "networkidle")]
        return scrapy.Request(url, meta={"playwright": True, "playwright_page_methods": methods})

    async def start(self):
        yield self.request(sys.argv[1])

    def parse(self, response):
        COUNTS["pages"] += 1
        COUNTS["characters"] += len(" ".join(" ".join(response.xpath(TEXT).getall()).split()))
        for link in response.xpath("//a/@href").getall():
            yield self.request(response.urljoin(link))


if __name__ == "__main__":
    url, program, places = sys.argv[1:]
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    process = CrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS": int(places),
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(places),
            "DOWNLOAD_HANDLERS": {"http": handler, "https": handler},
            "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
            "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": program, "args": ["--no-sandbox"]},
            "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": int(places),
        }
    )
    process.crawl(Pages)
    process.start()
    print(json.dumps(COUNTS))
