"""Measure the server time of a page of results, and its size.

    python benchmarks/pages.py [--documents N] [--queries N] [--engine NAME]

An index of synthetic documents is filled, and the application is called without sockets by one client, with different
queries in random order. Printed are percentiles of the time from the request to the last byte, and of the processor
time of this process in it, which other work on the machine does not change.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles

import httpx

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.supervision import FakeSupervision

from ultracrawl.index import IndexDocument
from ultracrawl.index.engines import open_index
from ultracrawl.index.project_index import searchable_project
from ultracrawl.model.page import Section
from ultracrawl.service.access.requester import Requester, RequesterKind
from ultracrawl.service.api import access
from ultracrawl.service.api.app import make_app
from ultracrawl.service.pages.app import add_pages
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions

WORDS = [
    f"{first}{second}{third}"
    for first in "bdfgklmnprst"
    for second in "aeiou"
    for third in ("n", "rel", "tik", "s", "mo")
]
SEED = 7


def document(number: int, chance: random.Random) -> IndexDocument:
    """Return a synthetic document with sections."""
    parts, sections, offset = [], [], 0
    for at in range(chance.randint(2, 8)):
        title = " ".join(chance.choices(WORDS, k=3)).title()
        weights = [1 / (rank + 1) for rank in range(len(WORDS))]
        text = f"{title}\n{' '.join(chance.choices(WORDS, weights, k=chance.randint(40, 160)))}.\n"
        sections.append(Section(offset, 2, f"part-{at}", title))
        parts.append(text)
        offset += len(text)
    attributes = {"Mimetype": ["text/html"], "Language": [chance.choice(("en", "de"))]}
    title = " ".join(chance.choices(WORDS, k=4)).title()
    url = f"https://www.example.com/{number % 97}/{number}.html"
    return IndexDocument(
        f"source{number % 5}", url, title, "".join(parts), attributes, sections=tuple(sections)
    )


def make_project(folder: Path, engine: str, documents: int) -> Project:
    """Return a project whose index has this many documents."""
    sources = "".join(f"  source{at}: {{start_urls: ['https://www.example.com/']}}\n" for at in range(5))
    definition = folder / "ultracrawl.yaml"
    definition.write_text(f"index: {{engine: {engine}, path: index}}\nsources:\n{sources}")
    project = require(read_definitions(definition))
    searchable = searchable_project(project)
    index = open_index(searchable.config_of(searchable.main_index()))
    chance = random.Random(SEED)
    for first in range(0, documents, 1000):
        index.apply(document(number, chance) for number in range(first, min(first + 1000, documents)))
    while index.maintain():  # type: ignore[func-returns-value] # engines may say whether more is to do
        pass
    index.close()
    return project


async def measure(project: Project, queries: list[str]) -> tuple[list[float], list[float], list[int]]:
    """Return milliseconds, milliseconds of processor time, and bytes of the pages of these queries."""
    app = make_app(lambda: project, FakeSupervision(list(project.sources)))
    add_pages(app)
    anybody = Requester("public", RequesterKind.PUBLIC, None, ())
    app.dependency_overrides[access.authenticate] = lambda: anybody
    times, processor, sizes = [], [], []
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        for query in [*queries[:20], *queries]:
            begun, worked = time.perf_counter(), time.process_time()
            answer = await client.get("/", params={"q": query})
            times.append((time.perf_counter() - begun) * 1000)
            processor.append((time.process_time() - worked) * 1000)
            answer.raise_for_status()
            sizes.append(int(answer.headers["content-length"]))
    app.state.api.searching.close()
    return times[20:], processor[20:], sizes[20:]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--engine", default="whoosh")
    options = parser.parse_args()
    chance = random.Random(SEED + 1)
    queries = [" ".join(chance.sample(WORDS, chance.randint(1, 3))) for _ in range(options.queries)]
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        project = make_project(Path(folder), options.engine, options.documents)
        print(
            f"{options.documents:,} documents in {options.engine}, indexed in {time.perf_counter() - begun:.0f} s"
        )
        times, processor, sizes = asyncio.run(measure(project, queries))
    for name, values in (("time", times), ("processor time", processor)):
        cuts = quantiles(values, n=100)
        print(
            f"{name} of a page of results: p50 {cuts[49]:.0f} ms, p95 {cuts[94]:.0f} ms, max {max(values):.0f} ms"
        )
    print(f"size of a page: median {sorted(sizes)[len(sizes) // 2]:,} bytes, max {max(sizes):,} bytes")


if __name__ == "__main__":
    main()
