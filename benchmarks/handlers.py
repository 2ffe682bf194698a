"""Compare the download handler with Scrapy's own, over the same pages of an nginx on loopback.

    python benchmarks/handlers.py                       # Debian's postgresql-doc-15
    python benchmarks/handlers.py --dir DIR --repeat 3 --requests 4000

Each run is a process of its own: it fetches the pages of the directory in turn until the count is reached, 32 at a
time, directly through the handler, without a crawl. Prints one JSON object with medians of the repeats. `cpu_ms` is
user and system time of the client per request, and varies less than the wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.nginx import nginx_site  # noqa: E402 - after the path is set

HANDLERS = {
    "curl": "ultracrawl.handlers.curl.handler.CurlDownloadHandler",
    "curl_guarded": "ultracrawl.handlers.curl.handler.CurlDownloadHandler",
    "scrapy_http11": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
}
CONCURRENT = 32


async def fetch_all(handler: Any, urls: Iterator[str]) -> int:
    """Fetch all URLs, `CONCURRENT` at a time; returns the bytes of all bodies."""
    from scrapy import Request

    headers = {"User-Agent": "ultracrawl", "Accept": "text/html,*/*;q=0.8", "Accept-Language": "en"}

    async def worker() -> int:
        size = 0
        for url in urls:
            response = await handler.download_request(Request(url, headers=headers))
            assert response.status == 200, url
            size += len(response.body)
        return size

    return sum(await asyncio.gather(*(worker() for _ in range(CONCURRENT))))


async def measure(name: str, urls: list[str], count: int) -> dict[str, float]:
    """Measure one handler after a warm-up."""
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.misc import load_object

    from ultracrawl.rules.boundary.addresses import AddressPolicy

    guard = [AddressPolicy.for_source(["127.0.0.1"])] if name.endswith("guarded") else []
    settings = {"DOWNLOAD_TIMEOUT": 30, "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENT}
    handler = load_object(HANDLERS[name])(Crawler(Spider, settings), *guard)
    await fetch_all(handler, islice(cycle(urls), 200))
    wall, cpu = time.perf_counter(), time.process_time()
    size = await fetch_all(handler, islice(cycle(urls), count))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await handler.close()
    return {
        "requests_per_second": round(count / wall),
        "cpu_ms": round(cpu / count * 1000, 4),
        "megabytes": round(size / 1e6, 1),
    }


def child(name: str, count: int) -> None:
    """Measure in this process; URLs come on stdin."""
    from scrapy.utils.reactor import install_reactor

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import defer, reactor

    urls = sys.stdin.read().split()

    async def work() -> None:
        print(json.dumps(await measure(name, urls, count)), flush=True)

    def start() -> None:
        done = defer.Deferred.fromFuture(asyncio.ensure_future(work()))
        done.addBoth(lambda result: (reactor.stop(), result)[1])

    reactor.callWhenRunning(start)
    reactor.run()


def run_child(name: str, urls: list[str], count: int) -> dict[str, float]:
    """Measure one handler in a new process."""
    command = [sys.executable, __file__, "--child", name, "--requests", str(count)]
    ended = subprocess.run(
        command, input="\n".join(urls), stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )
    result: dict[str, float] = json.loads(ended.stdout)
    return result


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, default=Path("/usr/share/doc/postgresql-doc-15/html"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.requests)
        return
    with nginx_site(options.dir) as site:
        paths = sorted(path.relative_to(options.dir) for path in options.dir.rglob("*.html"))
        urls = [f"{site.url}/{path}" for path in paths]
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in HANDLERS}
        for _ in range(options.repeat):
            for name in HANDLERS:
                runs[name].append(run_child(name, urls, options.requests))
    result = {name: median(measured) for name, measured in runs.items()}
    ratio = result["scrapy_http11"]["cpu_ms"] / result["curl"]["cpu_ms"]
    print(json.dumps({"pages": len(urls), **result, "curl_cpu_gain": round(ratio, 2)}, indent=2))


if __name__ == "__main__":
    main()
