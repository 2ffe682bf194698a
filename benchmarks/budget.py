"""Compare the CPU time per page by component with the last release: `python benchmarks/budget.py` prints a table.

    python benchmarks/budget.py --rounds 5 --write          # and put it into docs/performance.md
    python benchmarks/budget.py --store                     # keep the figures as those of this release
    python benchmarks/budget.py --tree ../other-checkout    # of another version of the package

A first crawl of Debian's PostgreSQL manual, a fixed corpus, and a second one without changes are sampled by a CPU timer
in each of their processes (measuring/sampler). Sampling costs one per cent; a profile of every call multiplies the
time, and counting instructions (valgrind) takes fifty times as long and does not see Python functions. The figures of
the last release are stored in budget.json and scaled by the speed of the machine, which is measured by a fixed piece of
work between the rounds. Differences are reported only; nothing fails.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from selectolax.lexbor import LexborHTMLParser

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from measuring.command_line import manual_of, parser_of, show_blocks  # noqa: E402 - after the path is set
from measuring.cost import run  # noqa: E402
from measuring.ours import INDEX_PROCESS, command, crawled, definition  # noqa: E402
from measuring.results import Stamp  # noqa: E402
from support.nginx import nginx_site  # noqa: E402

STORED = ROOT / "benchmarks" / "budget.json"
SAMPLER = ROOT / "benchmarks" / "measuring" / "sampler"
COMPONENTS: dict[str, tuple[str, ...]] = {
    "start: imports, settings, definitions": (
        "import",
        *(
            f"ultracrawl/{wing}"
            for wing in ("__", "cli", "addon", "settings", "sources", "system", "service", "python_api")
        ),
    ),
    "reading": (
        "ultracrawl/content",
        "ultracrawl/model/page",
        "ultracrawl/run/reading",
        "ultracrawl/spiders/page",
    ),
    "texts of links": ("ultracrawl/run/indexing/anchors", "ultracrawl/stores/sqlite/link"),
    "links": (
        *(f"ultracrawl/rules/{room}" for room in ("urls", "boundary", "candidates", "robots", "acceptance")),
        *(f"ultracrawl/scheduler/{room}" for room in ("candidate_filter", "ingest", "link_urls", "recrawl")),
    ),
    "scheduler": ("ultracrawl/scheduler", "ultracrawl/rules/frontier", "ultracrawl/rules/recrawl"),
    "Scrapy, Twisted, asyncio": ("scrapy", "twisted", "asyncio"),
    "handler": ("ultracrawl/handlers",),
    "middlewares": ("ultracrawl/middlewares",),
    "state": ("ultracrawl/stores",),
    "pipelines, hand-over to the index": (
        *(f"ultracrawl/{room}" for room in ("pipelines", "run/writing", "run/indexing", "index")),
        "ultracrawl/rules/attributes",
        "ultracrawl/rules/duplicates",
    ),
    "the rest of a visit": ("ultracrawl",),
}
"""Component by path; the longest matching path decides."""
OTHER = "not sampled: births and ends of processes, the sampling"
INDEX, START_OF_INDEX = "index process", "index process: its start"
CRAWLS = ("first crawl", "second crawl, all 304")
ROWS = (*COMPONENTS, OTHER, START_OF_INDEX, INDEX)
_LONGEST_FIRST = sorted(
    ((prefix, name) for name, prefixes in COMPONENTS.items() for prefix in prefixes),
    key=lambda pair: -len(pair[0]),
)


def component(place: str) -> str:
    """Return the component of a file."""
    return next((name for prefix, name in _LONGEST_FIRST if place.startswith(prefix)), OTHER)


def seconds_by_component(processes: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the CPU seconds of all processes of a crawl by component."""
    found: dict[str, float] = defaultdict(float)
    for process in processes:
        of_index = INDEX_PROCESS in " ".join(process["command"])
        for place, seconds in process["places"].items():
            name = component(place)
            if of_index:
                name = START_OF_INDEX if name == component("import") else INDEX
            found[name] += seconds
        found[INDEX if of_index else OTHER] += process["threads"]
    return found


def speed() -> float:
    """Return the CPU milliseconds of a fixed piece of work: loops, dictionaries, and a parse in C."""
    page = b"<ul>" + b"<li class=a><a href=page.html>a link</a> and <b>text</b>" * 2000
    started = time.process_time()
    for _ in range(5):
        LexborHTMLParser(page)
        words: dict[str, int] = {}
        for number in range(20_000):
            words[str(number % 5000)] = words.get(str(number % 500), 0) + number
    return (time.process_time() - started) * 1000


def sampled_crawl(folder: Path, tree: Path) -> dict[str, float]:
    """Crawl the definition in a folder; returns CPU microseconds per page by component."""
    with tempfile.TemporaryDirectory() as samples:
        words, environment = command("crawl", "--json", tree=tree)
        environment["PYTHONPATH"] = f"{SAMPLER}:{environment['PYTHONPATH']}"
        cost = run(words, folder, environment={**environment, "BUDGET_FOLDER": samples}, accepted=(0, 1))
        processes = [json.loads(file.read_text()) for file in Path(samples).iterdir()]
    seconds = seconds_by_component(processes)
    seconds[OTHER] += cost.cpu - sum(seconds.values())
    pages = crawled(cost).pages
    return {name: seconds.get(name, 0.0) / pages * 1e6 for name in ROWS}


def measure(manual: Path, rounds: int, tree: Path) -> dict[str, Any]:
    """Crawl `rounds` times; returns the medians of each crawl, and the speed of the machine."""
    speeds: list[float] = []
    found: dict[str, list[dict[str, float]]] = {crawl: [] for crawl in CRAWLS}
    with nginx_site(manual) as server:
        for _ in range(rounds):
            speeds.append(speed())
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "ultracrawl.yaml").write_text(definition(f"{server.url}/index.html"))
                for crawl in CRAWLS:
                    found[crawl].append(sampled_crawl(Path(folder), tree))
    medians = {
        crawl: {name: round(median(one[name] for one in rows), 1) for name in ROWS}
        for crawl, rows in found.items()
    }
    return {"speed": round(median(speeds), 2), "us_a_page": medians}


def report(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    """Return a table for each crawl: the time of each component, compared with the stored figures."""
    scale = now["speed"] / before["speed"] if before else 1.0
    head = f"version {before['version']}, {before['date']}" if before else "nothing stored"
    parts = []
    for crawl, rows in now["us_a_page"].items():
        stored = before["us_a_page"][crawl] if before else {}
        scaled = {name: value * scale for name, value in stored.items()}
        parts.append(f"| {crawl}: CPU µs a page | now | share | {head} | difference |\n{'| --- ' * 5}|")
        parts[-1] += "".join(f"\n{line}" for line in table(rows, scaled))
    return "\n\n".join(parts)


def table(now: Mapping[str, float], before: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of one crawl."""
    rows = [(name, now.get(name, 0.0), before.get(name, 0.0)) for name in ROWS]
    rows = [row for row in rows if row[1] or row[2]]
    rows.append(("all", sum(now.values()), sum(before.values())))
    for name, new, old in rows:
        said = f"{new - old:+.0f}" if before else ""
        yield f"| {name} | {new:.0f} | {new / rows[-1][1]:.0%} | {old:.0f} | {said} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; with options also store the figures or update the documentation."""
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tree", type=Path, default=ROOT, help="a checkout whose package is measured")
    parser.add_argument("--store", action="store_true", help="keep the figures in benchmarks/budget.json")
    options = parser.parse_args(arguments)
    before = json.loads(STORED.read_text()) if STORED.exists() else None
    stamp = Stamp.of_now()
    now = measure(manual_of("postgresql", options.packages), options.rounds, options.tree.absolute())
    if options.store:
        kept = {"version": stamp.version, "date": stamp.date, **now}
        STORED.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    show_blocks({"budget": f"{stamp}:\n\n{report(now, before)}"}, write=options.write)


if __name__ == "__main__":
    main()
