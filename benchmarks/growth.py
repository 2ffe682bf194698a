"""Measure whether a crawl gets slower or larger with the number of fetched pages: first crawls of generated sites.

    python benchmarks/growth.py [--pages 50000] [--engines whoosh,tantivy] [--step 5000]

A separate process serves generated pages over loopback: 20 links each, to new and to known pages, and 150 words with
the frequencies of a natural language. Each engine crawls the site as a user would. After every `--step` pages the CPU
seconds and the memory (shared memory counted once) of the crawling process and of its index process are sampled: a row
per step, with CPU milliseconds per page of each process in that step, and megabytes. Each row is printed to standard
error, and all of them at the end as one JSON object. Wall times are not measured, so the machine may have other work.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from measuring.cost import COMPILED, look_at
from measuring.ours import INDEX_PROCESS, command, definition

LINKS_ON, LINKS_BACK, WORDS, VOCABULARY = 4, 16, 150, 50_000
_RANKS = list(accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))


def page(number: int, pages: int) -> bytes:
    """Return the HTML of a page: links to four new pages, as in a tree, and to 16 earlier ones."""
    chance = random.Random(number)
    on = [number * LINKS_ON + place for place in range(1, LINKS_ON + 1)]
    back = [chance.randrange(number + 1) for _ in range(LINKS_BACK)]
    links = (f'<li><a href="/{one}.html">Chapter {one}</a></li>' for one in (*on, *back) if one < pages)
    text = " ".join(f"w{rank:x}e" for rank in chance.choices(range(VOCABULARY), cum_weights=_RANKS, k=WORDS))
    return (
        f"<!DOCTYPE html><html lang=en><head><title>Page {number}</title></head>"
        f"<body><h1>Page {number}</h1><ul>{''.join(links)}</ul><p>{text}</p></body></html>"
    ).encode()


class Site(asyncio.Protocol):
    """Serves one connection; paths that are no page number return 404."""

    def __init__(self, pages: int, served: Synchronized[int]) -> None:
        self._pages, self._served, self._waiting = pages, served, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._waiting = (self._waiting + data).split(b"\r\n\r\n")
        for one in requests:
            name = one.split(b" ", 2)[1].strip(b"/").removesuffix(b".html")
            number = int(name) if name.isdigit() else -1
            if 0 <= number < self._pages:
                self._answer(b"200 OK", page(number, self._pages))
                self._served.value += 1
            else:
                self._answer(b"404 Not Found", b"")

    def _answer(self, status: bytes, body: bytes) -> None:
        head = b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
        self._transport.write(head % (status, len(body)) + body)


def serve(pages: int, served: Synchronized[int], port: Synchronized[int]) -> None:
    """Serve the site until the process is killed."""

    async def live() -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Site(pages, served), "127.0.0.1", 0)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(live())


def look(crawl: int) -> dict[str, tuple[float, float]]:
    """Return CPU seconds and megabytes of the crawling process and of its index process."""
    found = {"crawl": (0.0, 0.0), "index": (0.0, 0.0)}
    for seen in look_at(crawl):
        role = "index" if INDEX_PROCESS in seen.command else "crawl"
        cpu, size = found[role]
        found[role] = cpu + seen.cpu, size + seen.memory / 2**20
    return found


def grow(engine: str, pages: int, step: int) -> list[dict[str, float]]:
    """Crawl a site with `pages` pages, and return a row for each step."""
    served, port = multiprocessing.Value("q", 0, lock=False), multiprocessing.Value("i", 0, lock=False)
    server = multiprocessing.Process(target=serve, args=(pages, served, port), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.05)
    with tempfile.TemporaryDirectory() as name:
        project = f"index: {{engine: {engine}, path: var/index}}"
        text = definition(f"http://127.0.0.1:{port.value}/0.html", project=project, source="depth: FULL")
        Path(name, "ultracrawl.yaml").write_text(text)
        words, environment = command("crawl", "--json")
        crawl = subprocess.Popen(
            words, cwd=name, stdout=subprocess.DEVNULL, env={**os.environ, **COMPILED, **environment}
        )
        rows = list(watched(crawl, served, step))
    server.terminate()
    if crawl.returncode:
        raise SystemExit(f"the crawl ended with {crawl.returncode}")
    return rows


def watched(
    crawl: subprocess.Popen[bytes], served: Synchronized[int], step: int
) -> Iterator[dict[str, float]]:
    """Yield a row after every `step` pages, and one for the end of the crawl."""
    before, cpu = 0, {"crawl": 0.0, "index": 0.0}
    now = look(crawl.pid)
    while True:
        ended = crawl.poll() is not None
        now = now if ended else look(crawl.pid)
        pages = served.value
        if pages - before >= step or ended:
            row: dict[str, float] = {"pages": pages}
            for role, (last, size) in now.items():
                seconds = max(last, cpu[role])  # the index process ends before the crawl does
                row[f"{role} cpu s"] = round(seconds - cpu[role], 2)
                if pages - before >= step:
                    row[f"{role} cpu ms a page"] = round((seconds - cpu[role]) / (pages - before) * 1e3, 3)
                row[f"{role} mb"] = round(size, 1)
                cpu[role] = seconds
            before = pages
            print(json.dumps(row), file=sys.stderr, flush=True)
            yield row
        if ended:
            return
        time.sleep(0.25)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--engines", default="whoosh,tantivy")
    parser.add_argument("--step", type=int, default=5_000)
    options = parser.parse_args()
    engines = options.engines.split(",")
    print(json.dumps({one: grow(one, options.pages, options.step) for one in engines}, indent=2))


if __name__ == "__main__":
    main()
