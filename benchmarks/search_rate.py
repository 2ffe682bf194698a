"""Measure searches a second by the API: `python benchmarks/search_rate.py FOLDER` prints a table.

    python benchmarks/search_rate.py FOLDER --searches 300     # a short one

FOLDER has a definition and its index, for example that of a manual with 10,000 pages. 1,000 different queries of one to
three words, from the titles of its pages and sections, are sent in random order by eight clients: once without kept
results, once with them and each query twice. Processor time is that of the service and all its processes.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import psutil  # noqa: E402 - after the path is set
from many_searches import client_of, served  # noqa: E402
from measuring.results import Stamp  # noqa: E402

from ultracrawl.index.project_index import open_index  # noqa: E402
from ultracrawl.settings.projects import find_project  # noqa: E402

CLIENTS = 8
QUERIES = 1000
HEAD = (
    "|  | searches | a second | p50 ms | p95 ms | CPU ms a search | memory MB |",
    "| --- | --- | --- | --- | --- | --- | --- |",
)


def queries_of(folder: Path) -> tuple[str, list[str]]:
    """Return the engine of a project, and queries for its index, always the same."""
    project, _ = find_project(str(folder / "ultracrawl.yaml"), plain=True)
    index, choice, names = open_index(project), random.Random(29), []
    for document in index.documents():
        names += [document.title, *(section.title for section in document.sections[:3])]
    index.close()
    words = [found for name in sorted(set(names)) if (found := re.findall("[A-Za-z]{3,}", name))]
    found: dict[str, None] = {}
    while len(found) < QUERIES:
        one, number = choice.choice(words), choice.choice((1, 1, 2, 2, 3))
        start = choice.randrange(max(1, len(one) - number + 1))
        found[" ".join(one[start : start + number]).lower()] = None
    queries = list(found)
    choice.shuffle(queries)
    return project.index.engine, queries


def cost_of_children() -> tuple[float, float]:
    """Return processor seconds and memory in MB (without what processes share) of all child processes."""
    children = psutil.Process().children(recursive=True)
    times = [child.cpu_times() for child in children]
    memory = sum(child.memory_full_info().pss for child in children) / 1e6
    return sum(one.user + one.system for one in times), memory


def row(label: str, port: int, token: str, queries: Sequence[str]) -> str:
    """Send the queries and return a line of the table."""
    left, times, lock = list(reversed(queries)), list[float](), threading.Lock()

    def ask_all() -> None:
        with client_of(port, token) as ask:
            while True:
                with lock:
                    if not left:
                        return
                    query = left.pop()
                started = time.perf_counter()
                ask(query)
                times.append((time.perf_counter() - started) * 1000)

    before, started = cost_of_children()[0], time.perf_counter()
    threads = [threading.Thread(target=ask_all) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    after, memory = cost_of_children()
    parts, cpu = quantiles(times, n=20), (after - before) / len(times) * 1000
    figures = f"{len(times) / seconds:.0f} | {parts[9]:.0f} | {parts[18]:.0f} | {cpu:.1f} | {memory:.0f}"
    return f"| {label} | {len(times)} | {figures} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--searches", type=int, default=QUERIES)
    options = parser.parse_args()
    engine, queries = queries_of(options.folder)
    queries = queries[: options.searches]
    print(f"{Stamp.of_now()}:\n", *HEAD, sep="\n")
    with served(options.folder, "--result-cache", "0") as (port, token, _):
        row("warm-up", port, token, queries[:20])
        print(row(f"{engine}, no results kept", port, token, queries), flush=True)
    with served(options.folder) as (port, token, _):
        print(row(f"{engine}, results kept, each query twice", port, token, queries * 2), flush=True)


if __name__ == "__main__":
    main()
