"""Measure crawls of remote sites, and searches during a crawl: `python benchmarks/latency.py` prints two tables.

    python benchmarks/latency.py --hosts 40 --pages 5      # a small one
    python benchmarks/latency.py --only searches --write   # one of the two, and put it into docs/performance.md

Remote sites: hosts on loopback over TLS, with compressed pages, behind a relay that delays every byte so that a round
trip takes 50 ms. This program and plain Scrapy have the same limits, 64 concurrent requests, 2 per site, and no delay.

Searches: the PostgreSQL manual is crawled, then Python's manual, and meanwhile words are searched for, one search after
the other in one process, with both engines; in wall time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from measuring.command_line import manual_of, parser_of, show_blocks  # noqa: E402 - after the path is set
from measuring.cost import Cost, run  # noqa: E402
from measuring.far import FarSites, far_sites  # noqa: E402
from measuring.ours import crawled, ultracrawl  # noqa: E402
from measuring.results import Stamp  # noqa: E402
from support.nginx import nginx_site  # noqa: E402

from ultracrawl import Searcher  # noqa: E402

AT_ONCE, PER_SITE = 64, 2
FAR = """
{project}
sources:
  far:
    start_urls: {urls}
    {source}
    settings: {{CONCURRENT_REQUESTS: {at_once}}}
    politeness: {{delay: 0, concurrency: {per_site}}}
    boundary: {{networks: [127.0.0.0/8]}}
"""
TWO_MANUALS = """
index: {{engine: {engine}}}
sources:
  first: {{start_urls: [{first}], politeness: {{delay: 0, concurrency: 32}}, boundary: {{networks: [127.0.0.0/8]}}}}
  second: {{start_urls: [{second}], politeness: {{delay: 0, concurrency: 32}}, boundary: {{networks: [127.0.0.0/8]}}}}
"""
QUESTIONS = (
    "create index", "vacuum", "replication slot", "select", "json functions", "text search", "privileges", "partition",
    "backup", "transaction isolation",
)  # fmt: skip
PAUSE = 0.05
"""Seconds between two searches, about the pace of one or two users."""


def ours(sites: FarSites, folder: Path, project: str, source: str) -> tuple[int, Cost]:
    """Crawl the remote sites with this program."""
    definition = FAR.format(
        urls=json.dumps(sites.urls), at_once=AT_ONCE, per_site=PER_SITE, project=project, source=source
    )
    (folder / "ultracrawl.yaml").write_text(definition)
    cost = ultracrawl(folder, "crawl", "--json", SSL_CERT_FILE=str(sites.authority))
    return crawled(cost).pages, cost


def plain(sites: FarSites, folder: Path) -> tuple[int, Cost]:
    """Crawl the remote sites with plain Scrapy."""
    (folder / "urls").write_text("\n".join(sites.urls))
    limits = ["--urls", "urls", "--at-once", str(AT_ONCE), "--per-site", str(PER_SITE)]
    command = [sys.executable, ROOT / "benchmarks" / "baseline.py", *limits]
    cost = run(command, folder, environment={"SSL_CERT_FILE": str(sites.authority)})
    return json.loads(cost.output.splitlines()[-1])["pages"], cost


CRAWLERS: Mapping[str, Callable[[FarSites, Path], tuple[int, Cost]]] = {
    "ultracrawl, first crawl, whoosh": lambda sites, folder: ours(sites, folder, "", ""),
    "ultracrawl, first crawl, tantivy": lambda sites, folder: ours(
        sites, folder, "index: {engine: tantivy}", ""
    ),
    "ultracrawl, no documents": lambda sites, folder: ours(sites, folder, "", "class: no_index.NoIndex"),
    "plain Scrapy, no index": plain,
}


def far(hosts: int, pages: int, round_trip: float) -> str:
    """Crawl remote sites; returns a table."""
    lines = ["|  | pages | pages/s | CPU ms a page | peak MB |", "| --- | --- | --- | --- | --- |"]
    with (
        tempfile.TemporaryDirectory() as name,
        far_sites(Path(name), hosts, pages, round_trip) as sites,
    ):
        for label, crawl in CRAWLERS.items():
            with tempfile.TemporaryDirectory() as folder:
                found, cost = crawl(sites, Path(folder))
            figures = f"{found / cost.seconds:.0f} | {cost.cpu / found * 1000:.2f} | {cost.peak_mb:.0f}"
            lines.append(f"| {label} | {found} | {figures} |")
            print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def asked(folder: Path, until: Callable[[int], bool]) -> list[float]:
    """Search repeatedly until `until` returns True; returns milliseconds."""
    times = []
    with Searcher(folder / "ultracrawl.yaml") as searcher:
        while not until(len(times)):
            started = time.perf_counter()
            searcher.search(QUESTIONS[len(times) % len(QUESTIONS)])
            times.append((time.perf_counter() - started) * 1000)
            time.sleep(PAUSE)
    return times


def searches(packages: Path) -> str:
    """Search while a crawl runs; returns a table."""
    first, second = (manual_of(name, packages) for name in ("postgresql", "python"))
    lines = ["|  | searches | p50 ms | p95 ms | highest |", "| --- | --- | --- | --- | --- |"]
    with nginx_site(first) as one, nginx_site(second) as other, tempfile.TemporaryDirectory() as name:
        for engine in ("whoosh", "tantivy"):
            folder = Path(name) / engine
            folder.mkdir()
            urls = {"first": f"{one.url}/index.html", "second": f"{other.url}/index.html"}
            (folder / "ultracrawl.yaml").write_text(TWO_MANUALS.format(engine=engine, **urls))
            ultracrawl(folder, "crawl", "--json", "first")
            lines.append(_times(f"{engine}, nothing else runs", asked(folder, lambda done: done >= 200)))
            crawl = threading.Thread(target=ultracrawl, args=(folder, "crawl", "--json", "second"))
            crawl.start()
            lines.append(_times(f"{engine}, during a crawl", asked(folder, lambda _: not crawl.is_alive())))  # noqa: B023
            crawl.join()
            print("\n".join(lines[-2:]), file=sys.stderr)
    return "\n".join(lines)


def _times(label: str, times: Sequence[float]) -> str:
    parts = quantiles(times, n=20)
    return f"| {label} | {len(times)} | {parts[9]:.1f} | {parts[18]:.1f} | {max(times):.1f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; with `--write` also update the documentation."""
    parser = parser_of(__doc__)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--pages", type=int, default=25, help="of each host")
    parser.add_argument("--round-trip", type=float, default=0.05, help="in seconds")
    parser.add_argument("--only", choices=["far", "searches"])
    options = parser.parse_args(arguments)
    head = Stamp.of_now()
    blocks = {}
    if options.only != "searches":
        what = f"{options.hosts} hosts with {options.pages} pages each, {options.round_trip * 1000:g} ms"
        blocks["far"] = f"{head}, {what}:\n\n{far(options.hosts, options.pages, options.round_trip)}"
    if options.only != "far":
        blocks["searches"] = f"{head}:\n\n{searches(options.packages)}"
    show_blocks(blocks, write=options.write)


if __name__ == "__main__":
    main()
