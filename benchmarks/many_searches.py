"""Measure fifty concurrent searches while four sources are crawled: `python benchmarks/many_searches.py`.

    python benchmarks/many_searches.py --site FOLDER     # another manual, which begins with index.html

The PostgreSQL manual is crawled, then four copies of it at the same time. Meanwhile fifty clients search, each again as
soon as it has its result: in one process, each with a searcher of its own, and through the API of `ultracrawl serve`,
which also crawls. They repeat few queries, so the API is measured without kept results too. Prints a table of wall
times; fifty searches are always open, so each waits for the others.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from latency import QUESTIONS  # noqa: E402 - after the path is set
from measuring.command_line import manual_of, parser_of, show_blocks  # noqa: E402
from measuring.ours import command, ultracrawl  # noqa: E402
from measuring.results import Stamp  # noqa: E402
from support.nginx import nginx_site  # noqa: E402

from ultracrawl import Searcher  # noqa: E402
from ultracrawl.service.access.requester import Role  # noqa: E402
from ultracrawl.service.access.tokens import TokenStore  # noqa: E402
from ultracrawl.sources import load_project, require  # noqa: E402

ASKERS = 50
CRAWLS = 4
DURING = f"{CRAWLS} crawls"
HEAD = (
    "|  | searches | a second | p50 ms | p95 ms | highest | errors |",
    "| --- | --- | --- | --- | --- | --- | --- |",
)
Ask = Callable[[str], object]
Opened = Callable[[], AbstractContextManager[Ask]]


@dataclass(slots=True)
class Asked:
    """Results of fifty clients."""

    milliseconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def row(self, label: str) -> str:
        """Return a line of the table, and print what went wrong."""
        for line in sorted(set(self.errors)):
            print(line, file=sys.stderr)
        parts = quantiles(self.milliseconds, n=20)
        rate = len(self.milliseconds) / self.seconds
        figures = f"{rate:.0f} | {parts[9]:.0f} | {parts[18]:.0f} | {max(self.milliseconds):.0f}"
        return f"| {label} | {len(self.milliseconds)} | {figures} | {len(self.errors)} |"


def ask_at_once(opened: Opened, going: Callable[[], bool], *, askers: int = ASKERS) -> Asked:
    """Let clients search while `going` returns True, at least once each."""
    asked, over, begun = Asked(), threading.Event(), time.perf_counter()

    def ask_again(number: int) -> None:
        with opened() as ask:
            while True:
                started = time.perf_counter()
                try:
                    ask(QUESTIONS[number % len(QUESTIONS)])
                except Exception as error:  # any error is counted
                    asked.errors.append(f"{type(error).__name__}: {error}")
                asked.milliseconds.append((time.perf_counter() - started) * 1000)
                number += 1
                if over.is_set():
                    return

    threads = [threading.Thread(target=ask_again, args=(number,)) for number in range(askers)]
    for thread in threads:
        thread.start()
    try:
        while going():
            time.sleep(0.5)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    asked.seconds = time.perf_counter() - begun
    return asked


def define(folder: Path, engine: str, urls: Sequence[str]) -> None:
    """Write a definition with a source for each address."""
    source = {
        "politeness": {"delay": 0, "concurrency": 32},
        "boundary": {"networks": ["127.0.0.0/8"]},
        "refresh": {"interval": "1 d"},
    }
    sources = {f"manual{number}": {"start_urls": [url], **source} for number, url in enumerate(urls)}
    definition = {"index": {"engine": engine}, "sources": sources}
    (folder / "ultracrawl.yaml").write_text(json.dumps(definition))


@contextmanager
def searcher_of(folder: Path) -> Iterator[Ask]:
    """Yield a search function of this process."""
    with Searcher(folder / "ultracrawl.yaml") as searcher:
        yield searcher.search


@contextmanager
def client_of(port: int, token: str) -> Iterator[Ask]:
    """Yield a search function that uses the API over its own connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(question: str) -> object:
        return answer_of(connection, f"/api/v1/search?q={quote(question)}", token)

    try:
        yield ask
    finally:
        connection.close()


def answer_of(connection: http.client.HTTPConnection, path: str, token: str) -> object:
    """Return the JSON of an API response. Raises `RuntimeError` for any other response."""
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status} {body[:200]!r}")
    return json.loads(body)


@contextmanager
def served(folder: Path, *further: str) -> Iterator[tuple[int, str, int]]:
    """Run `ultracrawl serve` on a project, with further options.

    Yields its port, a token, revoked in the end, and the number of its process.
    """
    words, environment = command("serve", "--port", "0", "--jobs", str(CRAWLS), *further)
    log = folder / "serve.log"
    with token_of(folder) as token:
        with log.open("w") as file:
            process = subprocess.Popen(
                words, cwd=folder, env={**os.environ, **environment}, stdout=file, stderr=file
            )
        try:
            while not (found := re.search(r"answers at http://127.0.0.1:(\d+)", log.read_text())):
                time.sleep(0.1)
                if process.poll() is not None:
                    sys.exit(log.read_text())
            yield int(found[1]), token, process.pid
        finally:
            process.terminate()
            process.wait()


@contextmanager
def token_of(folder: Path) -> Iterator[str]:
    """Yield an administrator's token for a project, revoked in the end; a killed run leaves one for a day."""
    tokens = TokenStore.of_project(require(load_project(folder / "ultracrawl.yaml")))
    name, tomorrow = f"asker-{time.time_ns()}", time.time() + 86400
    token = tokens.create_token(name, Role.ADMINISTRATOR, expires=tomorrow)
    try:
        yield token
    finally:
        tokens.revoke_token(name)


def crawling(port: int, token: str) -> bool:
    """Return whether a source has not been crawled yet since the service started."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    answer = answer_of(connection, "/api/v1/sources", token)
    connection.close()
    assert isinstance(answer, dict)
    return any(one["service"]["phase"] != "idle" for one in answer["sources"])


def crawled(folder: str, engine: str, urls: Sequence[str]) -> Path:
    """Return a folder in which the first of the sources was crawled."""
    path = Path(folder)
    define(path, engine, urls)
    ultracrawl(path, "crawl", "--json", "manual0")
    return path


def in_process(engine: str, urls: Sequence[str]) -> list[str]:
    """Return the table lines of searchers in one process."""
    with tempfile.TemporaryDirectory() as name:
        folder, still = crawled(name, engine, urls), time.perf_counter() + 10
        quiet = ask_at_once(lambda: searcher_of(folder), lambda: time.perf_counter() < still)
        others = (f"manual{number}" for number in range(1, len(urls)))
        words = (folder, "crawl", "--json", "--jobs", str(CRAWLS), *others)
        crawl = threading.Thread(target=ultracrawl, args=words)
        crawl.start()
        time.sleep(2)  # until all four crawls have started
        busy = ask_at_once(lambda: searcher_of(folder), crawl.is_alive)
        crawl.join()
    return [
        quiet.row(f"{engine}, in process, nothing else runs"),
        busy.row(f"{engine}, in process, {DURING}"),
    ]


def by_api(engine: str, urls: Sequence[str], results: str, *options: str) -> str:
    """Return the table line of a service with these options, which keeps `results`."""
    with (
        tempfile.TemporaryDirectory() as name,
        served(crawled(name, engine, urls), *options) as (port, token, _),
    ):
        time.sleep(2)
        asked = ask_at_once(lambda: client_of(port, token), lambda: crawling(port, token))
    return asked.row(f"{engine}, by the API, {results}, {DURING}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; with `--write` also update the documentation."""
    parser = parser_of(__doc__)
    parser.add_argument("--site", type=Path, help="a folder in place of the PostgreSQL manual")
    options = parser.parse_args(arguments)
    manual = options.site or manual_of("postgresql", options.packages)
    lines = [f"{Stamp.of_now()}:\n", *HEAD]
    with ExitStack() as stack:
        urls = [f"{stack.enter_context(nginx_site(manual)).url}/index.html" for _ in range(CRAWLS + 1)]
        for engine in ("whoosh", "tantivy"):
            lines += in_process(engine, urls)
            lines.append(by_api(engine, urls, "no results kept", "--result-cache", "0"))
            lines.append(by_api(engine, urls, "results kept"))
    show_blocks({"many-searches": "\n".join(lines)}, write=options.write)


if __name__ == "__main__":
    main()
