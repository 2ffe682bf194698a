"""Measure the cost of known URLs: memory of the crawling process, and time per page, with 10^3 to 10^7 of them.

    python benchmarks/state.py [--sizes 1000,10000,100000,1000000,10000000]

For each size a process of its own fills a state store (the first thousand URLs one by one, the others in bulk with
copied rows), opens it as a crawl does (a new run queues all URLs), and then processes pages: take the next entry, admit
20 known and 2 new links, finish the visit, flush every 500. Prints one JSON object: resident memory added by the known
URLs, CPU and wall microseconds per page, bytes on disk per URL. Ten million take some minutes and 2.5 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of, url_key
from ultracrawl.scheduler.candidate_filter import CandidateFilter, CandidateListeners
from ultracrawl.scheduler.link_urls import LinkUrls
from ultracrawl.stores import QueueEntry, SqliteStore

PAGES = 3000
ONE_BY_ONE = 1000
KNOWN_LINKS, NEW_LINKS = 20, 2


def url_of(number: int) -> str:
    return f"http://host{number % 50}.example.com/section/{number // 1000}/document-{number}.html"


SITES = [site_of(url_of(number)) for number in range(50)]


def rss() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


def fill(path: Path, size: int) -> float:
    state = SqliteStore(path, "s")
    run, _ = state.begin_run(1.0, "")
    started = time.perf_counter()
    for number in range(min(size, ONE_BY_ONE)):
        url = url_of(number)
        entry = QueueEntry(url_key(url), url, site_of(url), number.bit_length(), state.queue.next_seq())
        state.records.discover_url(entry, 1.0)
        record = state.records.get_record(entry.key)
        assert record is not None
        found = {"outcome": UrlOutcome.NEW, "status_code": 200, "etag": '"abcdef"', "checksum": b"c" * 32}
        state.records.finish_url(entry, replace(record, indexed=True, **found))
        if number % 1000 == 999:
            state.flush()
    state.end_run(replace(run, finished=2.0))
    state.close()
    if size > ONE_BY_ONE:
        copy_rows(path, size)
    return (time.perf_counter() - started) / size * 1e6


def copy_rows(path: Path, size: int) -> None:
    """Add copies of the last row up to `size` URLs, in the order of discovery; the index on keys is created last."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA synchronous=OFF")
        (index,) = db.execute("SELECT sql FROM sqlite_schema WHERE name='url_key'").fetchone()
        db.execute("DROP INDEX url_key")
        for table, own in (("url", url_row), ("revisit", revisit_row)):
            like = db.execute(f"SELECT * FROM {table} ORDER BY id DESC").fetchone()
            rest = like[len(own(0)) :]
            rows = (own(number) + rest for number in range(ONE_BY_ONE, size))
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(like))})", rows)
        db.execute(index)


def url_row(number: int) -> tuple[object, ...]:
    """Return the columns that differ by URL: id, key, URL, site, depth."""
    url = url_of(number)
    return number + 1, url_key(url), url, SITES[number % len(SITES)], number.bit_length()


def revisit_row(number: int) -> tuple[object, ...]:
    return (number + 1,)


def crawl(path: Path, size: int) -> dict[str, Any]:
    before = rss()
    state = SqliteStore(path, "s")
    started = time.perf_counter()
    state.begin_run(3.0, "")
    frontier: Frontier[QueueEntry] = Frontier(Pace(concurrency=10))
    for site, _ in state.queue.waiting_sites():
        frontier.mark_stored(site)
    opened = time.perf_counter() - started
    rejected: list[str] = []
    admission = CandidateFilter(
        LinkUrls(UrlPolicy(), rejected.append),
        CandidateRules(Boundary()),
        state,
        time.time,
        CandidateListeners(rejected.append),
    )
    pages, started, cpu = 0, time.perf_counter(), time.process_time()
    while pages < min(PAGES, size):
        while frontier.hungry:
            name = next(iter(frontier.hungry))
            stored = state.queue.entries_of(name, 2000)
            frontier.refill_site(name, stored, more=len(stored) == 2000)
        entry = frontier.pop_entry(0.0)
        if entry is None:
            break
        work_on(state, admission, frontier, entry, pages, size)
        pages += 1
        if pages % 500 == 0:
            state.flush()
    state.flush()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    return {
        "open_seconds": round(opened, 2),
        "us_per_page": round(seconds / max(pages, 1) * 1e6),
        "cpu_us_per_page": round(cpu / max(pages, 1) * 1e6),
        "mb": rss() - before,
    }


def work_on(
    state: SqliteStore,
    admission: CandidateFilter,
    frontier: Frontier[QueueEntry],
    entry: QueueEntry,
    page: int,
    size: int,
) -> None:
    record = state.records.get_record(entry.key)
    assert record is not None
    hrefs = [url_of((page * 7919 + link * 104729) % size) for link in range(KNOWN_LINKS)]
    hrefs += [url_of(size + page * NEW_LINKS + link) for link in range(NEW_LINKS)]
    found, inside = admission.admit(hrefs, entry.url, entry.depth + 1)
    for new in found:
        frontier.add_entry(new)
    state.records.finish_url(entry, replace(record, outcome=UrlOutcome.NOT_MODIFIED, links=inside.tobytes()))
    frontier.finish_entry(entry.site)


def measure(size: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "s.sqlite"
        fill_us = float(in_process("--fill", path, size))
        bytes_per_url = path.stat().st_size / size
        result = json.loads(in_process("--crawl", path, size))
    result["mb"] = round(result["mb"], 1)
    result |= {"fill_us_per_url": round(fill_us, 1), "bytes_per_url": round(bytes_per_url)}
    print(size, json.dumps(result), file=sys.stderr, flush=True)
    return result


def in_process(step: str, path: Path, size: int) -> bytes:
    command = [sys.executable, __file__, step, str(path), str(size)]
    return subprocess.run(command, check=True, capture_output=True).stdout


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "--fill":
        print(fill(Path(sys.argv[2]), int(sys.argv[3])))
        return
    if len(sys.argv) == 4 and sys.argv[1] == "--crawl":
        print(json.dumps(crawl(Path(sys.argv[2]), int(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1000,10000,100000,1000000,10000000")
    sizes = [int(size) for size in parser.parse_args().sizes.split(",")]
    print(json.dumps({size: measure(size) for size in sizes}, indent=2))


if __name__ == "__main__":
    main()
