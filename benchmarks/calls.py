"""Count the calls of a crawl, and fail if they have become more: `python benchmarks/calls.py --check`.

    python benchmarks/calls.py                              # print them beside those that are stored
    python benchmarks/calls.py --store                      # store them: the commit says what they buy
    python benchmarks/calls.py --tree ../other-checkout     # of another version of the package
    python benchmarks/calls.py --files                      # by file, to compare two versions with diff

Time hangs on the machine and on what else it does; calls do not. A closed site of 200 pages (measuring/counted_site) is
crawled twice. Each process counts the calls of the package's functions, and those that they make to functions in C,
with what some of these are given: characters of regular expressions, items of sorts, statements of SQLite
(measuring/counter). Periodic tasks come with pages, not with time; all documents are indexed in one commit, and without
the compiled core. A start is a command's modules, models, dataclasses and regular expressions.

The figures hang on the versions of Python and of the packages: they are stored for each minor version of Python, and
compared where packages are installed by `requirements.lock`. They may grow by 3 % (index process: 5 %, a start: not at
all) over those of calls.json, which `--store` writes, and by 5 % over those of calls_budget.json, which is a copy of
calls.json that somebody makes who has decided about a new budget.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from measuring import counting, ratchet  # noqa: E402 - after the path is set
from measuring.counted_site import PAGES, counted_site  # noqa: E402
from measuring.counting import Counted  # noqa: E402
from measuring.ours import definition  # noqa: E402
from measuring.ratchet import Figures  # noqa: E402

STORED = ROOT / "benchmarks" / "calls.json"
BUDGET = ROOT / "benchmarks" / "calls_budget.json"
LOCK = ROOT / "requirements.lock"

Processes = dict[str, list[Counted]]
"""The processes that are counted by page, by the name that their figures have."""


def crawled(folder: Path, tree: Path, url: str, *extensions: str) -> list[Counted]:
    """Crawl a site with a definition in a folder, and with extensions of Scrapy; returns what the processes counted."""
    text = definition(f"{url}/", source=counting.source(*extensions), project=counting.PROJECT)
    (folder / "ultracrawl.yaml").write_text(text)
    return counting.counted(folder, tree, "crawl", "--json")


def by_process(first: Sequence[Counted], second: Sequence[Counted] = ()) -> Processes:
    """Return the processes of two crawls by their names."""
    return {
        "crawl process": list(first[:1]),
        "index process": [one for one in first if counting.is_of_index(one)],
        "second crawl": list(second[:1]),
    }


def a_page(processes: Processes, pages: int = PAGES) -> dict[str, float]:
    """Return what the processes did a page."""
    figures: dict[str, float] = {}
    for name, counts in processes.items():
        for kind, files in files_of(counts).items():
            figures[f"{name}: {kind}"] = files.total() / pages
    return figures


def files_of(processes: Sequence[Counted]) -> dict[str, Counter[str]]:
    """Return by kind what each file of the package did in several processes."""
    found: dict[str, Counter[str]] = {}
    for process in processes:
        for kind, files in counting.by_file(process).items():
            found[kind] = found.get(kind, Counter()) + files
    return found


def start_of(verb: str, process: Counted) -> dict[str, float]:
    """Return what the start of a command made."""
    made = {"modules": process["modules"], **process["made"]}
    return {f"start of {verb}: {name}": number for name, number in made.items()}


def measure(tree: Path) -> tuple[Processes, dict[str, float]]:
    """Crawl the site twice, search, and serve; returns the processes of the crawls and all figures by name.

    Raises `CommandError`.
    """
    with counted_site().serve() as url, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        first, second = (crawled(folder, tree, url) for _ in range(2))
        search = counting.counted(folder, tree, "search", "--json", "nothing")
        service = counting.counted_service(folder, tree)
    processes = by_process(first, second)
    starts = {"crawl": first[0], "search": search[0], "serve": service}
    figures = a_page(processes)
    for verb, process in starts.items():
        figures |= start_of(verb, process)
    return processes, figures


def table(now: Figures, before: Figures, budget: Figures) -> str:
    """Return a table of the figures, with their differences from those that are stored and from their budget."""
    lines = ["| a page, and of a start | now | stored | difference | from the budget |", f"{'| --- ' * 5}|"]
    for name, number in now.items():
        stored = f"{before[name]:,.5g}" if name in before else ""
        beside = " | ".join(
            f"{number / figures[name] - 1:+.1%}" if figures.get(name) else "" for figures in (before, budget)
        )
        lines.append(f"| {name} | {number:,.5g} | {stored} | {beside} |")
    return "\n".join(lines)


def files_table(processes: Processes) -> Iterator[str]:
    """Yield a line for each process, kind and file with what it did a page."""
    for name, counts in processes.items():
        for kind, files in sorted(files_of(counts).items()):
            yield from (f"{name}: {kind}: {file} {files[file] / PAGES:.1f}" for file in sorted(files))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; with `--check` exit with 1 if a figure has grown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail if calls have become more")
    parser.add_argument("--store", action="store_true", help="store the figures in benchmarks/calls.json")
    parser.add_argument("--files", action="store_true", help="print what each file does a page")
    parser.add_argument("--tree", type=Path, default=ROOT, help="a checkout whose package is measured")
    options = parser.parse_args(arguments)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    before, budget = (ratchet.read_figures(file).get(python, {}) for file in (STORED, BUDGET))
    processes, now = measure(options.tree.absolute())
    print("\n".join(files_table(processes)) if options.files else table(now, before, budget))
    if options.store:
        ratchet.store_figures(STORED, python, now)
    if options.check:
        others = ratchet.other_versions(LOCK.read_text())
        found = [*ratchet.failures(now, before, budget, others)]
        if raised := ", ".join(ratchet.unexplained(STORED)):
            found.append(f"raised by a commit that does not say what it buys: {raised}")
        sys.exit("\n".join(found) or None)


if __name__ == "__main__":
    main()
