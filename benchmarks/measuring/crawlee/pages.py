"""Fetches all pages of one host with Crawlee and extracts links and text, nothing else.

Nothing is stored, robots.txt is not read, there is no index. Run it with the Python that has Crawlee, and the start
URL; prints one line of JSON.
"""

import asyncio
import json
import logging
import sys

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

TEXT = "//body//text()[not(ancestor::script or ancestor::style)]"


async def main(start: str) -> None:
    counts = {"pages": 0, "characters": 0}
    crawler = ParselCrawler(
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=32, desired_concurrency=32, max_concurrency=32
        ),
        max_request_retries=0,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def page(context: ParselCrawlingContext) -> None:
        counts["pages"] += 1
        counts["characters"] += len(" ".join(" ".join(context.selector.xpath(TEXT).getall()).split()))
        await context.enqueue_links()

    await crawler.run([start])
    print(json.dumps(counts))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(main(sys.argv[1]))
