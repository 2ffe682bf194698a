"""Opens all pages of one host in Chromium with Crawlee, and extracts links and text, nothing else.

A page is complete when nothing has been asked for half a second. Nothing is stored, there is no index. Run it with the
Python that has Crawlee and Playwright, the start URL, the browser, and how many pages are open at once; prints one line
of JSON.
"""

import asyncio
import json
import logging
import sys

from crawlee import ConcurrencySettings
from crawlee.crawlers import PlaywrightCrawler, PlaywrightCrawlingContext
from crawlee.storage_clients import MemoryStorageClient


async def main(start: str, program: str, places: int) -> None:
    counts = {"pages": 0, "characters": 0}
    crawler = PlaywrightCrawler(
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=places, desired_concurrency=places, max_concurrency=places
        ),
        max_request_retries=0,
        configure_logging=False,
        browser_launch_options={"executable_path": program, "args": ["--no-sandbox"]},
        fingerprint_generator=None,
        use_incognito_pages=False,
    )

    @crawler.router.default_handler
    async def page(context: PlaywrightCrawlingContext) -> None:
        await context.page.wait_for_load_state("networkidle")
        counts["pages"] += 1
        counts["characters"] += len(" ".join((await context.page.inner_text("body")).split()))
        await context.enqueue_links()

    await crawler.run([start])
    print(json.dumps(counts))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
