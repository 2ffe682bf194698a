"""Measure the cost of choosing the next URL, with bookkeeping, at 10^3 to 10^6 known URLs and 10 to 10^5 sites.

    python benchmarks/frontier.py [--sizes 1000,100000,1000000] [--sites 10,1000,100000]

In memory: `Frontier` alone; take the next entry, finish it, and queue another one of its site. Durable: the same over
a state store with all URLs in the queue; each one is finished with a record, a new URL is added for every second one,
everything is flushed every 500 URLs. The time includes closing the store: the write-ahead log of a small store is
checkpointed then, that of a large one continuously.
No more URLs are processed than are known, so that nearly all are read from the stored queue (a site with one or two
URLs continues with its new ones while it has its slot). A store of 1,000 URLs is therefore measured 100 times, each
time as a fresh copy, until 100,000 URLs are done.
`--max-sites` is the option of a source, whose default is 128. Each durable round has a process of its own, and all
stores are measured in each round, in turns. Prints one JSON object: medians of the rounds, URLs per second of CPU time
(the machine may have other work) and of wall time, memory of the process (MB), bytes per URL, and the flatness of the
curves: the rate of the slowest cell relative to the fastest.

Ten million known URLs, about ten minutes and 4 GB of disk:

    python benchmarks/frontier.py --sizes 10000000 --sites 10,100000 --no-memory
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.frontier.frontier import Frontier, FrontierLimits
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import QueueEntry, SqliteStore

STEPS = 100_000
ROUNDS = 3
FLUSH = 500
FILL = 20_000
"""URLs per flush while a store is filled."""
MAX_SITES = 128


class Entry(NamedTuple):
    """A URL of a site, by number."""

    site: str
    number: int


def in_memory(urls: int, sites: int, max_sites: int | None) -> float:
    frontier: Frontier[Entry] = Frontier(
        limits=FrontierLimits(capacity=2 * urls + 1, max_sites=max_sites, max_inter_docs=200)
    )
    for number in range(urls):
        frontier.add_entry(Entry(f"s{number % sites}.example.com", number))
    gc.collect()
    gc.freeze()
    rates = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for step in range(STEPS):
            entry = frontier.pop_entry(0.0)
            if entry is None:
                raise SystemExit("nothing may be fetched")
            frontier.add_entry(Entry(entry.site, urls + step))
            frontier.finish_entry(entry.site)
        rates.append(STEPS / (time.process_time() - started))
    return round(median(rates))


def url_of(number: int, sites: int) -> str:
    return f"http://s{number % sites}.example.com/section/{number // 1000}/document-{number}.html"


def fill(path: Path, urls: int, sites: int) -> None:
    """Fill a state store with known URLs, as an earlier run leaves it."""
    state = SqliteStore(path, "s")
    run, _ = state.begin_run(1.0, "")
    for number in range(urls):
        url = url_of(number, sites)
        entry = QueueEntry(url_key(url), url, f"s{number % sites}.example.com", 3, number + 1)
        state.records.discover_url(entry, 1.0)
        state.records.finish_url(
            entry, replace(UrlRecord(url, "s", 3), outcome=UrlOutcome.NEW, etag='"abcdef"', indexed=True)
        )
        if number % FILL == FILL - 1:
            state.flush()
    state.end_run(replace(run, finished=2.0))
    state.close()


def durable(path: Path, urls: int, max_sites: int) -> dict[str, Any]:
    before = psutil.Process().memory_info().rss
    state = SqliteStore(path, "s")
    begun = time.process_time()
    state.begin_run(3.0, "")
    frontier: Frontier[QueueEntry] = Frontier(limits=FrontierLimits(max_sites=max_sites, max_inter_docs=200))
    for site, _ in state.queue.waiting_sites():
        frontier.mark_stored(site)
    opened = time.process_time() - begun
    gc.collect()
    gc.freeze()  # as a crawl does when it has opened everything
    started, wall = time.process_time(), time.perf_counter()
    steps = work(state, frontier, urls)
    memory = psutil.Process().memory_info()
    state.close()
    return {
        "steps": steps,
        "seconds": time.process_time() - started,
        "wall": time.perf_counter() - wall,
        "open_s": round(opened, 2),
        "mb": round((memory.rss - before) / 2**20, 1),
        "rss_mb": round(memory.rss / 2**20, 1),
    }


def work(state: SqliteStore, frontier: Frontier[QueueEntry], urls: int) -> int:
    for step in range(min(urls, STEPS)):
        while frontier.hungry:
            name = next(iter(frontier.hungry))
            stored = state.queue.entries_of(name, frontier.batch_size, range(1, 2))
            frontier.refill_site(name, stored, more=len(stored) == frontier.batch_size)
        entry = frontier.pop_entry(0.0)
        if entry is None:
            raise SystemExit("nothing may be fetched")
        _finish(state, frontier, entry, step, urls)
        if step % FLUSH == FLUSH - 1:
            state.flush()
    return step + 1


def repeated(path: Path, urls: int, max_sites: int) -> dict[str, Any]:
    """Measure copies of a store until `STEPS` URLs are done."""
    runs: list[dict[str, Any]] = []
    while sum(run["steps"] for run in runs) < STEPS:
        copy = path.with_name("copy.sqlite")
        shutil.copy(path, copy)
        runs.append(durable(copy, urls, max_sites))
    steps, seconds, wall = (sum(run[name] for run in runs) for name in ("steps", "seconds", "wall"))
    return {
        "urls_per_s": round(steps / seconds),
        "urls_per_s_wall": round(steps / wall),
        **{name: runs[0][name] for name in ("open_s", "mb", "rss_mb")},
    }


def _finish(
    state: SqliteStore, frontier: Frontier[QueueEntry], entry: QueueEntry, step: int, urls: int
) -> None:
    if step % 2:
        url = f"http://{entry.site}/new/{urls + step}.html"
        new = QueueEntry(url_key(url), url, entry.site, 4, state.queue.next_seq())
        state.records.discover_url(new, 3.0)
        frontier.add_entry(new)
    record = UrlRecord(entry.url, "s", entry.depth, outcome=UrlOutcome.NOT_MODIFIED, last_fetched=3.0)
    state.records.finish_url(entry, record)
    frontier.finish_entry(entry.site)


def stores(folder: Path, cells: list[tuple[int, int]]) -> dict[tuple[int, int], Path]:
    """Create a store for each pair of URLs and sites."""
    paths = {(urls, sites): folder / f"{urls}-{sites}" / "s.sqlite" for urls, sites in cells}
    for (urls, sites), path in paths.items():
        path.parent.mkdir()
        fill(path, urls, sites)
    return paths


def by_turns(paths: dict[tuple[int, int], Path], max_sites: int) -> dict[tuple[int, int], dict[str, Any]]:
    """Measure all stores in each round, so that other load affects all of them; return the medians."""
    rounds: dict[tuple[int, int], list[dict[str, Any]]] = {cell: [] for cell in paths}
    sizes = {cell: path.stat().st_size for cell, path in paths.items()}
    for _ in range(ROUNDS):
        for cell, path in paths.items():
            command = [sys.executable, __file__, "--durable", str(path), *map(str, (cell[0], max_sites))]
            rounds[cell].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
            print(cell, rounds[cell][-1], file=sys.stderr)
    result = {}
    for cell, runs in rounds.items():
        queued = paths[cell].with_name("copy.sqlite").stat().st_size
        result[cell] = {
            **{key: median(one[key] for one in runs) for key in runs[0]},
            "bytes_per_url": round(sizes[cell] / cell[0]),
            "bytes_per_url_queued": round(queued / cell[0]),
        }
    return result


def main() -> None:
    if sys.argv[1:2] == ["--durable"]:
        print(json.dumps(repeated(Path(sys.argv[2]), *map(int, sys.argv[3:]))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1000,100000,1000000")
    parser.add_argument("--sites", default="10,1000,100000")
    parser.add_argument("--max-sites", type=int, default=MAX_SITES)
    parser.add_argument("--no-store", action="store_true", help="only what happens in memory")
    parser.add_argument("--no-memory", action="store_true", help="only what is durable")
    given = parser.parse_args()
    numbers = [list(map(int, text.split(","))) for text in (given.sizes, given.sites)]
    cells = [(urls, sites) for urls in numbers[0] for sites in numbers[1] if sites <= urls]
    rows: dict[tuple[int, int], dict[str, Any]] = {cell: {} for cell in cells}
    if not given.no_memory:
        for (urls, sites), row in rows.items():
            row["in_memory_urls_per_s"] = in_memory(urls, sites, given.max_sites)
            row["in_memory_all_sites_urls_per_s"] = in_memory(urls, sites, None)
    if not given.no_store:
        with tempfile.TemporaryDirectory() as folder:
            for cell, row in by_turns(stores(Path(folder), cells), given.max_sites).items():
                rows[cell]["durable"] = row
    result = {f"{urls} URLs, {sites} sites": row for (urls, sites), row in rows.items()}
    print(json.dumps({**result, "flatness": flatness(list(result.values()))}, indent=2))


def flatness(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the ratio of the slowest to the fastest cell for each kind of measurement."""
    kinds = {
        "in memory": [row["in_memory_urls_per_s"] for row in rows if "in_memory_urls_per_s" in row],
        "durable": [row["durable"]["urls_per_s"] for row in rows if "durable" in row],
    }
    return {kind: round(min(rates) / max(rates), 2) for kind, rates in kinds.items() if rates}


if __name__ == "__main__":
    main()
