"""Measure the cost of known URLs: memory of the crawling process, and time per page, with 10^3 to 10^7 of them.

    python benchmarks/state.py [--sizes 1000,10000,100000,1000000,10000000] [--pages 3000] [--first 0]
        [--postgresql URL] [--calls]

For each size a process of its own fills a state store (the first thousand URLs one by one, the others in bulk with
copied rows), opens it as a crawl does (a new run queues all URLs), and then processes pages: take the next entry, look
for other pages with its text, admit 20 known and 2 new links, finish the visit, flush every 500. Prints one JSON
object: resident memory added by the known URLs, CPU and wall microseconds per page, statements per page between two
flushes, bytes on disk per URL. Ten million take some minutes and 2.5 GB of disk, 9 GB with PostgreSQL.

The first pages of a run pay for what is read ahead for later ones, up to 2,000 entries a site, and for the keys in
memory: `--first` is a number of pages (flushes of 500) that are not measured.

With `--calls` the calls of functions a page are counted, too, which do not hang on the machine; times are then those of
a profiled crawl.

URL is a PostgreSQL of this machine: then the stores in it are measured beside those in SQLite, in a schema that is
dropped before and after. The processor time of all its processes and the bytes of its log (WAL) are added, so nothing
else should use it meanwhile.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import psutil
import psycopg

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of, url_key
from ultracrawl.scheduler.candidate_filter import CandidateFilter, CandidateListeners, LinkPage
from ultracrawl.scheduler.link_urls import LinkUrls
from ultracrawl.stores import QueueEntry, SqliteStore, Store
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.store import PostgresStore
from ultracrawl.stores.sqlite.database import SqliteAccess

T = TypeVar("T")
ONE_BY_ONE = 1000
PAGES_A_FLUSH = 500
SCHEMA = "state_benchmark"
KNOWN_LINKS, NEW_LINKS = 20, 2


def url_of(number: int) -> str:
    return f"http://host{number % 50}.example.com/section/{number // 1000}/document-{number}.html"


SITES = [site_of(url_of(number)) for number in range(50)]


def rss() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


def store_at(place: str) -> Store:
    """Open the store in a file, or in the database of a URL."""
    if is_url(place):
        return PostgresStore(PostgresAddress(place, SCHEMA), "s")
    return SqliteStore(Path(place), "s")


def is_url(place: str) -> bool:
    return place.startswith("postgresql:")


def fill(place: str, size: int) -> float:
    state = store_at(place)
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
        if is_url(place):
            copy_rows_in_database(place, size)
        else:
            copy_rows(Path(place), size)
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


def copy_rows_in_database(url: str, size: int) -> None:
    """Do what `copy_rows` does; the indexes on keys are as full as if keys had come one by one."""
    with closing(psycopg.connect(url)) as db, db:
        db.execute(f"SET search_path TO {SCHEMA}")
        sites: dict[str, int] = dict(db.execute("SELECT name, site FROM host").fetchall())
        numbers = [sites[site] for site in SITES]

        def own_values(number: int) -> str:
            _, key, url, _, depth = url_row(number)
            return f"{key}\t{number + 1}\t{numbers[number % len(SITES)]}\t{url}\t{depth}"

        for table, own, values in (
            ("url", "key, number, site, url, depth", own_values),
            ("revisit", "key", lambda number: str(url_key(url_of(number)))),
        ):
            names = "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
            others = [name for (name,) in db.execute(names, [SCHEMA, table]) if name not in own.split(", ")]
            rest = ", ".join(others)
            with db.cursor().copy(f"COPY (SELECT {rest} FROM {table} LIMIT 1) TO STDOUT") as copy:
                (like,) = (bytes(row) for row in copy)
            db.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey")
            with db.cursor().copy(f"COPY {table} ({own}, {rest}) FROM STDIN") as copy:
                for number in range(ONE_BY_ONE, size):
                    copy.write(values(number).encode() + b"\t" + like)
            key = f"{table}_pkey PRIMARY KEY (source, part, key) WITH (fillfactor = 70)"
            db.execute(f"ALTER TABLE {table} ADD CONSTRAINT {key}")
        db.execute("UPDATE part SET numbered = %s", [size])
    with closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute("VACUUM ANALYZE")
        db.execute("CHECKPOINT")


def url_row(number: int) -> tuple[object, ...]:
    """Return the columns that differ by URL: id, key, URL, site, depth."""
    url = url_of(number)
    return number + 1, url_key(url), url, SITES[number % len(SITES)], number.bit_length()


def revisit_row(number: int) -> tuple[object, ...]:
    return (number + 1,)


class Reads:
    """Counts the statements that are made alone: what is read by a flush is not."""

    def __init__(self) -> None:
        self.number = 0
        for kind in (SqliteAccess, Database):
            for name in ("read", "stream"):
                setattr(kind, name, self._counted(getattr(kind, name)))

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        number = self.number
        yield
        self.number = number

    def _counted(self, method: Callable[..., T]) -> Callable[..., T]:
        def counted(*values: Any, **options: Any) -> T:
            self.number += 1
            return method(*values, **options)

        return counted


def crawl(place: str, size: int, first: int, most: int, *, counting: bool) -> dict[str, Any]:
    before, reads = rss(), Reads()
    state = store_at(place)
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
    profile = cProfile.Profile() if counting else None
    pages, meter = 0, Meter(place, reads, profile if not first else None)
    while pages < min(first + most, size):
        while frontier.hungry:
            name = next(iter(frontier.hungry))
            stored = state.queue.entries_of(name, 2000)
            frontier.refill_site(name, stored, more=len(stored) == 2000)
        entry = frontier.pop_entry(0.0)
        if entry is None:
            break
        work_on(state, admission, frontier, entry, pages, size)
        pages += 1
        if pages % PAGES_A_FLUSH == 0:
            with reads.uncounted():
                flush(state, admission, frontier)
        if pages == first:
            meter = Meter(place, reads, profile)
    with reads.uncounted():
        flush(state, admission, frontier)
    return {"open_seconds": round(opened, 2)} | meter.spent(pages - first) | {"mb": rss() - before}


class Meter:
    """What the crawl, and the server of its store, spend from now on."""

    def __init__(self, place: str, reads: Reads, profile: cProfile.Profile | None) -> None:
        self._reads, self._read, self._profile = reads, reads.number, profile
        if profile is not None:
            profile.enable()
        self._server = Server(place) if is_url(place) else None
        self._cpu, self._started = time.process_time(), time.perf_counter()

    def spent(self, pages: int) -> dict[str, Any]:
        """Return what each of `pages` took since this was made."""
        calls: dict[str, Any] = {}
        if self._profile is not None:
            self._profile.disable()
            number = sum(one.callcount for one in self._profile.getstats())
            calls["calls_per_page"] = round(number / max(pages, 1))
        seconds, cpu = time.perf_counter() - self._started, time.process_time() - self._cpu
        return (
            calls
            | {
                "us_per_page": round(seconds / max(pages, 1) * 1e6),
                "statements_per_page": round((self._reads.number - self._read) / max(pages, 1), 3),
                "cpu_us_per_page": round(cpu / max(pages, 1) * 1e6),
            }
            | (self._server.spent(pages) if self._server else {})
        )


def flush(state: Store, admission: CandidateFilter, frontier: Frontier[QueueEntry]) -> None:
    asked = list(admission.late)
    state.records.look_up_later(asked)
    state.flush()
    for new in admission.settle(asked, state.records.looked_up()):
        frontier.add_entry(new)


class Server:
    """What a PostgreSQL of this machine spends from now on."""

    def __init__(self, url: str) -> None:
        self._db = psycopg.connect(url, autocommit=True)
        ((own,),) = self._db.execute("SELECT pg_backend_pid()").fetchall()
        main = psutil.Process(own).parent()
        assert main is not None
        self._main = main
        self._cpu, self._wal = self._now()

    def _now(self) -> tuple[float, float]:
        """Return CPU seconds of its processes, those that ended included, and bytes of its log."""
        ((wal,),) = self._db.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')").fetchall()
        ended = self._main.cpu_times()
        times = [process.cpu_times() for process in self._main.children(recursive=True)]
        own = ended.user + ended.system + ended.children_user + ended.children_system
        return own + sum(time.user + time.system for time in times), float(wal)

    def spent(self, pages: int) -> dict[str, Any]:
        """Return what each of `pages` took since this was made."""
        cpu, wal = self._now()
        self._db.close()
        return {
            "server_cpu_us_per_page": round((cpu - self._cpu) / max(pages, 1) * 1e6),
            "wal_bytes_per_page": round((wal - self._wal) / max(pages, 1)),
        }


def work_on(
    state: Store,
    admission: CandidateFilter,
    frontier: Frontier[QueueEntry],
    entry: QueueEntry,
    page: int,
    size: int,
) -> None:
    record = state.records.get_record(entry.key)
    assert record is not None
    text = blake2b(page.to_bytes(8, "big"), digest_size=16).digest()
    assert not state.records.with_fingerprint(text)
    hrefs = [url_of((page * 7919 + link * 104729) % size) for link in range(KNOWN_LINKS)]
    hrefs += [url_of(size + page * NEW_LINKS + link) for link in range(NEW_LINKS)]
    urls = admission.resolve(hrefs, entry.url).values()
    found, inside = admission.admit_resolved(urls, LinkPage(entry.url, entry.depth + 1, may_wait=True))
    for new in found:
        frontier.add_entry(new)
    state.records.finish_url(entry, replace(record, outcome=UrlOutcome.NOT_MODIFIED, links=inside.tobytes()))
    frontier.finish_entry(entry.site)


def measure(size: int, numbers: Sequence[int], database: str | None) -> dict[str, Any]:
    """Return the results of a size, with those of PostgreSQL beside them if there is one."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "s.sqlite"
        result = filled_and_crawled(str(path), size, numbers, lambda: path.stat().st_size)
    if database:
        with emptied(database):
            in_database = filled_and_crawled(database, size, numbers, lambda: bytes_of_schema(database))
        result = {"sqlite": result, "postgresql": in_database}
    print(size, json.dumps(result), file=sys.stderr, flush=True)
    return result


def filled_and_crawled(
    place: str, size: int, numbers: Sequence[int], bytes_now: Callable[[], int]
) -> dict[str, Any]:
    fill_us = float(in_process("--fill", place, size))
    stored = bytes_now()
    result = json.loads(in_process("--crawl", place, size, *numbers))
    result["mb"] = round(result["mb"], 1)
    return result | {"fill_us_per_url": round(fill_us, 1), "bytes_per_url": round(stored / size)}


@contextmanager
def emptied(database: str) -> Iterator[None]:
    """Drop the schema of the measurement before and after."""
    with closing(psycopg.connect(database, autocommit=True)) as db:
        drop = f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"
        db.execute(drop)
        try:
            yield
        finally:
            db.execute(drop)


def bytes_of_schema(database: str) -> int:
    """Return the bytes of the tables of the measurement, their indexes included."""
    with closing(psycopg.connect(database, autocommit=True)) as db:
        ((total,),) = db.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = %s::regnamespace",
            [SCHEMA],
        ).fetchall()
    return int(total)


def in_process(step: str, place: str, *numbers: int) -> bytes:
    command = [sys.executable, __file__, step, place, *map(str, numbers)]
    return subprocess.run(command, check=True, capture_output=True).stdout


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "--fill":
        print(fill(sys.argv[2], int(sys.argv[3])))
        return
    if len(sys.argv) == 7 and sys.argv[1] == "--crawl":
        *numbers, counting = map(int, sys.argv[3:])
        print(json.dumps(crawl(sys.argv[2], *numbers, counting=bool(counting))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1000,10000,100000,1000000,10000000")
    parser.add_argument("--pages", type=int, default=3000, help="pages of each crawl, at most all known ones")
    parser.add_argument("--first", type=int, default=0, help="pages before them, which are not measured")
    parser.add_argument("--calls", action="store_true", help="count calls")
    parser.add_argument("--postgresql", metavar="URL", help="a server of this machine")
    options = parser.parse_args()
    numbers = options.first // PAGES_A_FLUSH * PAGES_A_FLUSH, options.pages, int(options.calls)
    sizes = [int(size) for size in options.sizes.split(",")]
    print(json.dumps({size: measure(size, numbers, options.postgresql) for size in sizes}, indent=2))


if __name__ == "__main__":
    main()
