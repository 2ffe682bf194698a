"""Measure fifty concurrent searches while four sources are crawled: `python benchmarks/many_searches.py`.

    python benchmarks/many_searches.py --site FOLDER     # another manual, which begins with index.html

The PostgreSQL manual is crawled, then four copies of it at the same time. Meanwhile fifty clients search, each again as
soon as it has its result: through the API of `ultracrawl serve`, which also crawls, and in one process, each with a
searcher of its own. Prints a table of wall times; fifty searches are always open, so each waits for the others.
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

ASKERS = 50
CRAWLS = 4
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
        """Return a line of the table."""
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
def served(folder: Path, *further: str) -> Iterator[tuple[int, str]]:
    """Run `ultracrawl serve` on a project, with further options; yields its port and a token."""
    words, environment = command("token", "create", f"asker-{time.time_ns()}", "--role", "administrator")
    token = subprocess.check_output(words, cwd=folder, env={**os.environ, **environment}, text=True).strip()
    words, environment = command("serve", "--port", "0", "--jobs", str(CRAWLS), *further)
    log = folder / "serve.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            words, cwd=folder, env={**os.environ, **environment}, stdout=file, stderr=file
        )
    try:
        while not (found := re.search(r"answers at http://127.0.0.1:(\d+)", log.read_text())):
            time.sleep(0.1)
            if process.poll() is not None:
                sys.exit(log.read_text())
        yield int(found[1]), token
    finally:
        process.terminate()
        process.wait()


def crawling(port: int, token: str) -> bool:
    """Return whether a source has not been crawled yet since the service started."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    answer = answer_of(connection, "/api/v1/sources", token)
    connection.close()
    assert isinstance(answer, dict)
    return any(one["service"]["phase"] != "idle" for one in answer["sources"])


def measure(engine: str, folder: Path, urls: Sequence[str]) -> list[str]:
    """Return the table lines of an engine."""
    crawls = [f"manual{number}" for number in range(1, len(urls))]
    define(folder, engine, urls)
    ultracrawl(folder, "crawl", "--json", "manual0")
    still = time.perf_counter() + 10
    quiet = ask_at_once(lambda: searcher_of(folder), lambda: time.perf_counter() < still)
    with served(folder) as (port, token):
        time.sleep(2)  # until all four crawls have started
        by_api = ask_at_once(lambda: client_of(port, token), lambda: crawling(port, token))
    crawl = threading.Thread(
        target=ultracrawl, args=(folder, "crawl", "--json", "--force", "--jobs", str(CRAWLS), *crawls)
    )
    crawl.start()
    time.sleep(2)
    in_process = ask_at_once(lambda: searcher_of(folder), crawl.is_alive)
    crawl.join()
    for line in {*quiet.errors, *by_api.errors, *in_process.errors}:
        print(line, file=sys.stderr)
    return [
        quiet.row(f"{engine}, in process, nothing else runs"),
        in_process.row(f"{engine}, in process, {CRAWLS} crawls"),
        by_api.row(f"{engine}, by the API, {CRAWLS} crawls"),
    ]


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
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            lines += measure(engine, folder, urls)
    show_blocks({"many-searches": "\n".join(lines)}, write=options.write)


if __name__ == "__main__":
    main()
