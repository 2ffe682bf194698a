"""Print what a page costs by component: `python benchmarks/budget.py` prints calls and CPU time.

    python benchmarks/budget.py --rounds 5 --write          # and put it into docs/performance.md
    python benchmarks/budget.py --store                     # keep the calls as those of this release
    python benchmarks/budget.py --tree ../other-checkout    # of another version of the package

A first crawl of Debian's PostgreSQL manual, a fixed corpus, and a second one without changes are run with the counters
of `calls.py` (measuring/counting), and then, some times, sampled by a CPU timer in each of their processes
(measuring/sampler). Sampling costs one per cent; a profile of every call multiplies the time. Both without the compiled
core. Calls are compared with those of the last release, which budget.json stores; CPU time hangs on the machine and on
what else it does, and is compared with nothing. Nothing fails: that is what `calls.py` is for.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from measuring import counting  # noqa: E402 - after the path is set
from measuring.command_line import manual_of, parser_of, show_blocks  # noqa: E402
from measuring.cost import run  # noqa: E402
from measuring.ours import command, crawled, definition  # noqa: E402
from measuring.results import Stamp  # noqa: E402
from support.nginx import nginx_site  # noqa: E402

from ultracrawl.system.compiled_core import SWITCH  # noqa: E402

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
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_LONGEST_FIRST = sorted(
    ((prefix, name) for name, prefixes in COMPONENTS.items() for prefix in prefixes),
    key=lambda pair: -len(pair[0]),
)


class Row(NamedTuple):
    """What a component costs a page."""

    calls: float
    microseconds: float
    """CPU time."""


Table = dict[str, Row]


def component(place: str) -> str:
    """Return the component of a file."""
    return next((name for prefix, name in _LONGEST_FIRST if place.startswith(prefix)), OTHER)


def calls_by_component(processes: Iterable[counting.Counted]) -> dict[str, float]:
    """Return the calls of all processes of a crawl by component."""
    found: dict[str, float] = defaultdict(float)
    for process in processes:
        for file, calls in counting.by_file(process)[counting.CALLS].items():
            found[INDEX if counting.is_of_index(process) else component(file)] += calls
    return found


def seconds_by_component(processes: Iterable[counting.Counted]) -> dict[str, float]:
    """Return the CPU seconds of all processes of a crawl by component."""
    found: dict[str, float] = defaultdict(float)
    for process in processes:
        of_index = counting.is_of_index(process)
        for place, seconds in process["places"].items():
            name = component(place)
            if of_index:
                name = START_OF_INDEX if name == component("import") else INDEX
            found[name] += seconds
        found[INDEX if of_index else OTHER] += process["threads"]
    return found


def sampled_crawl(folder: Path, tree: Path) -> tuple[int, dict[str, float]]:
    """Crawl the definition in a folder; returns the number of pages, and the CPU seconds by component."""
    with tempfile.TemporaryDirectory() as samples:
        words, environment = command("crawl", "--json", tree=tree)
        environment["PYTHONPATH"] = f"{SAMPLER}:{environment['PYTHONPATH']}"
        environment |= {SWITCH: "0", "BUDGET_FOLDER": samples}
        cost = run(words, folder, environment=environment, accepted=(0, 1))
        processes = [json.loads(file.read_text()) for file in Path(samples).iterdir()]
    seconds = seconds_by_component(processes)
    seconds[OTHER] += cost.cpu - sum(seconds.values())
    return crawled(cost).pages, seconds


def measure(manual: Path, rounds: int, tree: Path) -> dict[str, Table]:
    """Crawl with counters, and `rounds` times sampled; returns what a page costs by crawl and component."""
    with nginx_site(manual) as server, tempfile.TemporaryDirectory() as place:
        url = f"{server.url}/index.html"
        text = definition(url, source=counting.source(), project=counting.PROJECT)
        folder = _project(Path(place, "counted"), text)
        counts = {
            crawl: calls_by_component(counting.counted(folder, tree, "crawl", "--json")) for crawl in CRAWLS
        }
        sampled: dict[str, list[tuple[int, dict[str, float]]]] = {crawl: [] for crawl in CRAWLS}
        for number in range(rounds):
            folder = _project(Path(place, str(number)), definition(url))
            for crawl in CRAWLS:
                sampled[crawl].append(sampled_crawl(folder, tree))
    found: dict[str, Table] = {}
    for crawl, runs in sampled.items():
        pages = runs[0][0]
        found[crawl] = {
            name: Row(
                counts[crawl].get(name, 0.0) / pages,
                median(one.get(name, 0.0) / pages * 1e6 for _, one in runs),
            )
            for name in ROWS
        }
    return found


def _project(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "ultracrawl.yaml").write_text(text)
    return folder


def report(now: Mapping[str, Table], release: str, before: Mapping[str, Mapping[str, float]]) -> str:
    """Return a table for each crawl, with the calls of a release by crawl and component, if there are any."""
    parts = []
    for crawl, rows in now.items():
        head = f"| {crawl}: a page | calls | {release} | difference | CPU µs | share |\n{'| --- ' * 6}|"
        parts.append("\n".join((head, *lines(rows, before.get(crawl, {})))))
    return "\n\n".join(parts)


def lines(now: Table, before: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of one crawl."""
    total = Row(*(sum(column) for column in zip(*now.values(), strict=True)))
    for name, row in (*now.items(), ("all", total)):
        stored = sum(before.values()) if row is total else before.get(name, 0.0)
        if row.calls or row.microseconds or stored:
            compared = f"{stored:.0f} | {row.calls - stored:+z.0f}" if stored else " | "
            calls = f"{row.calls:.0f}" if row.calls else ""
            share = row.microseconds / total.microseconds
            yield f"| {name} | {calls} | {compared} | {row.microseconds:.0f} | {share:.0%} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; with options also store the calls or update the documentation."""
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tree", type=Path, default=ROOT, help="a checkout whose package is measured")
    parser.add_argument("--store", action="store_true", help="keep the calls in benchmarks/budget.json")
    options = parser.parse_args(arguments)
    stamp = Stamp.of_now()
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    now = measure(manual_of("postgresql", options.packages), options.rounds, options.tree.absolute())
    if options.store:
        calls = {
            crawl: {name: round(row.calls, 1) for name, row in rows.items()} for crawl, rows in now.items()
        }
        kept = {"version": stamp.version, "date": stamp.date, "python": PYTHON, "calls_a_page": calls}
        STORED.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    is_comparable = stored.get("python") == PYTHON
    release = f"version {stored['version']}, {stored['date']}" if is_comparable else "nothing stored"
    text = report(now, release, stored["calls_a_page"] if is_comparable else {})
    show_blocks({"budget": f"{stamp}:\n\n{text}"}, write=options.write)


if __name__ == "__main__":
    main()
