"""Measure the overview of a service with thirty sources of 100,000 URLs: its time, and its memory over an hour.

    python benchmarks/administration.py [--sources 30] [--urls 100000] [--crawls 4] [--polls 720]

A state is filled through the port of the stores and copied for the other sources, so nothing is fetched. `ultracrawl
serve` shows them. The first requests read all states; the next ones find nothing changed; then some of the sources are
crawled: this program holds their states and control files as a crawl does, and writes 50 visits into each before every
poll. An open page asks every five seconds, so 720 polls are an hour. Prints a table: CPU time of the service and time
until the answer is read, in milliseconds for each request, and the mean memory of the service in each quarter of the
polls.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from statistics import mean, median, quantiles

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from many_searches import served  # noqa: E402 - after the path is set
from measuring.results import Stamp  # noqa: E402

from ultracrawl.model import UrlOutcome  # noqa: E402
from ultracrawl.rules.urls.canonical import site_of, url_key  # noqa: E402
from ultracrawl.stores import QueueEntry, SqliteStore  # noqa: E402
from ultracrawl.stores.control_channel import ControlChannel  # noqa: E402
from ultracrawl.stores.sqlite.engine import SqliteEngine  # noqa: E402

PATHS = ("/admin", "/api/v1/sources", "/admin/sources/s000")
RUNS = 20
TIMES = {"refresh": {"interval": "1000 h"}}
"""No source is due while it is measured, and the service looks when each is."""
VISITS = 50
"""Visits that a crawl writes between two polls."""
QUIET = 50
"""Requests of each kind while nothing changes."""
_BEGINNING = 2.0
"""Seconds before the first request, in which the service ends its beginning."""
_IDLE = 2.0
"""Seconds after which a connection is not used again."""
OUTCOMES = (*[UrlOutcome.NEW] * 17, UrlOutcome.DUPLICATE, UrlOutcome.GONE, UrlOutcome.REDIRECTED)
HEAD = (
    "|  | requests | CPU ms, mean | wall ms: median, p95, highest |",
    "| --- | --- | --- | --- |",
)


@dataclass(slots=True)
class Asked:
    """The times of requests for one path."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def row(self, label: str) -> str:
        """Return a line of the table."""
        slow = quantiles(self.wall, n=20)[18] if len(self.wall) > 1 else self.wall[0]
        figures = f"{mean(self.cpu):.1f} | {median(self.wall):.0f}, {slow:.0f}, {max(self.wall):.0f}"
        return f"| {label} | {len(self.wall)} | {figures} |"


class Asker:
    """Asks a service, and notes what its process spends on each answer."""

    def __init__(self, port: int, token: str, process: psutil.Process) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._process = process
        self._answered = 0.0

    def ask(self, path: str, asked: Asked) -> int:
        """Send a request, and add its times in milliseconds; returns the bytes of the answer."""
        spent, began = self._cpu(), time.perf_counter()
        if began - self._answered > _IDLE:
            self._connection.close()  # the service closes it soon
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        self._answered = time.perf_counter()
        asked.wall.append((self._answered - began) * 1000)
        asked.cpu.append((self._cpu() - spent) * 1000)
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:300]!r}")
        return len(body)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _cpu(self) -> float:
        times = self._process.cpu_times()
        return times.user + times.system

    @property
    def megabytes(self) -> float:
        """The memory that only this process has."""
        return float(self._process.memory_full_info().uss) / 2**20


def url_of(number: int) -> str:
    """Return one of the URLs of a source."""
    return f"http://host{number % 50}.example.com/section/{number // 1000}/document-{number}.html"


def fill(path: Path, urls: int) -> None:
    """Fill the state of a source with runs and visited URLs."""
    state, began = SqliteStore(path, path.stem), time.time() - RUNS * 3600
    for number in range(1, RUNS + 1):
        run, _ = state.begin_run(began + number * 3600, "")
        if number == RUNS:
            visit_new(state, urls)
        report = {
            "fetched": urls,
            "seconds": 1800.0,
            "bytes": urls * 20_000,
            "outcomes": {"NEW": 900 + number, "MODIFIED": 300, "NOT_MODIFIED": urls, "HTTP_ERROR": 17},
            "status_codes": {"200": urls, "404": 17},
            "deleted": 12,
        }
        state.end_run(replace(run, finished=run.started + 1800, report=json.dumps(report)))
    state.close()


def visit_new(state: SqliteStore, urls: int) -> None:
    """Discover URLs, and give each an outcome."""
    for number in range(urls):
        url, outcome = url_of(number), OUTCOMES[number % len(OUTCOMES)]
        entry = QueueEntry(url_key(url), url, site_of(url), number.bit_length(), state.queue.next_seq())
        state.records.discover_url(entry, 1.0)
        record = state.records.get_record(entry.key)
        assert record is not None
        found = {"outcome": outcome, "status_code": 200, "etag": '"abcdef"', "checksum": b"c" * 32}
        record = replace(record, indexed=outcome is UrlOutcome.NEW, last_fetched=1.0, **found)
        state.records.finish_url(entry, record)
        if number % 1000 == 999:
            state.flush()


def make_project(folder: Path, sources: int, urls: int) -> list[Path]:
    """Write a definition with filled sources; returns their states."""
    names = [f"s{number:03}" for number in range(sources)]
    definition = {
        "state": {"path": "state"},
        "sources": {name: {"start_urls": [f"http://{name}.example/"], **TIMES} for name in names},
    }
    (folder / "ultracrawl.yaml").write_text(json.dumps(definition))
    states = [folder / "state" / f"{name}.sqlite" for name in names]
    states[0].parent.mkdir()
    fill(states[0], urls)
    for state in states[1:]:
        shutil.copyfile(states[0], state)
    return states


@contextmanager
def crawl(path: Path) -> Iterator[Iterator[None]]:
    """Hold the state of a source as its crawl does; yields an iterator each step of which writes some visits."""
    state = SqliteStore(path, path.stem)
    state.begin_run(time.time(), "")
    channel = ControlChannel(SqliteEngine().open_notes(path.parent, path.stem))
    try:
        yield steps(state)
    finally:
        channel.close()
        state.close()


def steps(state: SqliteStore) -> Iterator[None]:
    """Finish visits of the queue without an end, and make them durable."""
    sites = [site for site, _ in state.queue.waiting_sites()]
    number = 0
    while True:
        number += 1
        for entry in islice(state.queue.entries_of(sites[number % len(sites)], VISITS), VISITS):
            record = state.records.get_record(entry.key)
            assert record is not None
            seen = replace(record, outcome=UrlOutcome.NOT_MODIFIED, last_fetched=time.time())
            state.records.finish_url(entry, seen)
        state.flush()
        yield


def measure(folder: Path, options: argparse.Namespace) -> list[str]:
    """Return the lines of the table, and one about memory."""
    states = make_project(folder, options.sources, options.urls)
    with served(folder) as (port, token, pid), ExitStack() as stack:
        asker = stack.enter_context(closing(Asker(port, token, psutil.Process(pid))))
        first, again = {path: Asked() for path in PATHS}, {path: Asked() for path in PATHS}
        live, memory = {path: Asked() for path in PATHS}, list[float]()
        time.sleep(_BEGINNING)
        for path in PATHS:
            asker.ask(path, first[path])
        for _ in range(QUIET):
            for path in PATHS:
                asker.ask(path, again[path])
        crawls = [stack.enter_context(crawl(state)) for state in states[: options.crawls]]
        for _ in range(options.polls):
            for step in crawls:
                next(step)
            for path in PATHS:
                asker.ask(path, live[path])
            memory.append(asker.megabytes)
    kinds = (("first", first), ("nothing changed", again), (f"{options.crawls} crawls", live))
    quarter = max(len(memory) // 4, 1)
    quarters = [mean(memory[at : at + quarter]) for at in range(0, quarter * 4, quarter) if memory[at:]]
    return [
        *(asked[path].row(f"`{path}`, {label}") for label, asked in kinds for path in PATHS),
        "",
        f"Memory: {', '.join(f'{one:.0f}' for one in quarters)} MB in the quarters of the polls.",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=int, default=30)
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--crawls", type=int, default=4)
    parser.add_argument("--polls", type=int, default=720)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        lines = measure(Path(name), options)
    print("\n".join([f"{Stamp.of_now()}:\n", *HEAD, *lines]))


if __name__ == "__main__":
    main()
