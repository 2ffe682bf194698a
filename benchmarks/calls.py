"""Count the calls of a crawl, and fail if they have become more: `python benchmarks/calls.py --check`.

    python benchmarks/calls.py                              # print them beside those that are stored
    python benchmarks/calls.py --store                      # store them: the commit says what they buy
    python benchmarks/calls.py --tree ../other-checkout     # of another version of the package

Time hangs on the machine and on what else it does; calls do not. A closed site of 200 pages (measuring/counted_site) is
crawled twice, and each process counts the calls of the package's functions, and those that they make to functions in C
(measuring/counter). What repeats with time is left out: the progress, polls, the handler's loop. The compiled core is
off, and all documents are indexed in one commit. A start is a command's modules, models, dataclasses and regular
expressions.

The figures hang on the versions of Python and of the packages: they are stored for each minor version of Python, and
compared where packages are installed by `requirements.lock`. A call to a function in C that works for long counts as
one: what it costs, `benchmarks/budget.py` tells.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from measuring.cost import CommandError, run  # noqa: E402 - after the path is set
from measuring.counted_site import PAGES, counted_site  # noqa: E402
from measuring.ours import INDEX_PROCESS, command, definition  # noqa: E402

from ultracrawl.system.compiled_core import SWITCH  # noqa: E402

STORED = ROOT / "benchmarks" / "calls.json"
LOCK = ROOT / "requirements.lock"
COUNTER = ROOT / "benchmarks" / "measuring" / "counter"
BY_TIME = (
    "ultracrawl/cli/crawl/progress",
    "ultracrawl/handlers/curl/loop",
    "ultracrawl/index/writing/destination_queue",
    "ultracrawl/index/writing/process",
    "ultracrawl/run/context",
    "ultracrawl/run/control",
    "ultracrawl/run/lifecycle",
    "ultracrawl/run/run_counters",
    "ultracrawl/run/writing/commits",
    "ultracrawl/service/run",
)
"""Files whose functions are called more often the longer a crawl takes."""
ALLOWED = {"crawl process": 1.03, "index process": 1.05, "second crawl": 1.03}
"""What calls a page may become of those that are stored; of the rest none may be added."""
PROJECT = "cache: {phases: two}\nindex: {engine: whoosh}"

Figures = dict[str, float]


def calls_of(process: Mapping[str, Any]) -> int:
    """Return the calls of a process that do not hang on time."""
    return sum(
        calls
        for kind in ("functions", "in_c")
        for file, calls in process[kind].items()
        if not file.startswith(BY_TIME)
    )


def counted(folder: Path, tree: Path, *arguments: str) -> list[dict[str, Any]]:
    """Run a command in a folder; returns what its processes counted, the command itself first."""
    with tempfile.TemporaryDirectory() as counts:
        words, environment = command(*arguments, tree=tree)
        environment["PYTHONPATH"] = os.pathsep.join([str(COUNTER), environment["PYTHONPATH"]])
        environment |= {"PYTHONHASHSEED": "0", SWITCH: "0", "CALLS_FOLDER": counts, "CALLS_TREE": str(tree)}
        run(words, folder, environment=environment)
        processes = [json.loads(file.read_text()) for file in Path(counts).iterdir()]
    own = [one for one in processes if one["command"][1:] == words[1:]]
    if len(own) != 1:
        raise CommandError(f"{len(own)} processes of {' '.join(arguments)} have counted")
    return own + [one for one in processes if one is not own[0]]


def start_of(verb: str, process: Mapping[str, Any]) -> Figures:
    """Return what the start of a command made."""
    return {f"{verb}: {name}": number for name, number in process["made"].items()} | {
        f"{verb}: modules": process["modules"]
    }


def measure(tree: Path) -> Figures:
    """Crawl the site twice and search; returns all figures by name. Raises `CommandError`."""
    with counted_site().serve() as url, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "ultracrawl.yaml").write_text(definition(f"{url}/", project=PROJECT))
        first = counted(folder, tree, "crawl", "--json")
        second = counted(folder, tree, "crawl", "--json")
        search = counted(folder, tree, "search", "--json", "nothing")
    indexing = [one for one in first[1:] if INDEX_PROCESS in " ".join(one["command"])]
    return {
        "crawl process": calls_of(first[0]) / PAGES,
        "index process": sum(map(calls_of, indexing)) / PAGES,
        "second crawl": calls_of(second[0]) / PAGES,
        **start_of("crawl", first[0]),
        **start_of("search", search[0]),
    }


def grown(now: Mapping[str, float], before: Mapping[str, float]) -> list[str]:
    """Return the names of the figures that have become more than is allowed."""
    return [
        name
        for name, number in now.items()
        if name in before and number > before[name] * ALLOWED.get(name, 1.0)
    ]


def table(now: Mapping[str, float], before: Mapping[str, float]) -> str:
    """Return a table of the figures beside those that are stored."""
    lines = [
        "| calls a page, and what a start makes | now | stored | difference |",
        "| --- | --- | --- | --- |",
    ]
    for name, number in now.items():
        stored = before.get(name)
        beside = f"{stored:,.0f} | {number / stored - 1:+.1%}" if stored else " | "
        lines.append(f"| {name} | {number:,.0f} | {beside} |")
    return "\n".join(lines)


def other_versions(lock: str) -> list[str]:
    """Return the names of packages that are installed in another version than a lock file names."""
    pinned: dict[str, set[str]] = {}
    for line in lock.splitlines():
        name, mark, rest = line.partition("==")
        if mark and not line.startswith((" ", "#")):
            pinned.setdefault(name, {""}).add(rest.split()[0])  # several: the version of Python decides
    return [name for name, versions in pinned.items() if _installed(name) not in versions]


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; with `--check` exit with 1 if a figure has grown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail if calls have become more")
    parser.add_argument("--store", action="store_true", help="store the figures in benchmarks/calls.json")
    parser.add_argument("--tree", type=Path, default=ROOT, help="a checkout whose package is measured")
    options = parser.parse_args(arguments)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    stored: dict[str, Figures] = json.loads(STORED.read_text()) if STORED.exists() else {}
    before = stored.get(python, {})
    now = measure(options.tree.absolute())
    print(table(now, before))
    if options.store:
        stored[python] = {name: round(number, 1) for name, number in now.items()}
        STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
    elif options.check:
        sys.exit(judged(grown(now, before), before, other_versions(LOCK.read_text())))


def judged(more: Iterable[str], before: Mapping[str, float], others: Sequence[str]) -> str | None:
    """Return why the check fails, None if it does not."""
    if not before:
        print("not compared: there are no figures of this version of Python")
    elif others:
        print(f"not compared: other versions than in requirements.lock: {', '.join(others)}")
    elif names := ", ".join(more):
        return f"more than is stored: {names}; if it is worth it, store it and say in the commit what it buys"
    return None


if __name__ == "__main__":
    main()
