"""Measure files and table rows, new and unchanged: `python benchmarks/listed.py` prints a table.

    python benchmarks/listed.py [--files 100000] [--rows 100000] [--engine whoosh] [--words 60]

A folder of small text files and a SQLite table are generated, each document a line of words with the frequencies of a
natural language, and crawled twice as a user would, including all processes. omindex and recollindex, if installed,
index the same folder twice. Wall times need a quiet machine; CPU times and memory (shared memory counted once) do not.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from measuring.cost import Cost, run
from measuring.ours import ultracrawl

IN_A_FOLDER = 100
_VOCABULARY = 50_000
_RANKS = list(accumulate(1 / (rank + 10) for rank in range(_VOCABULARY)))
HEAD = (
    "|  | documents | seconds | CPU seconds | CPU ms a document | peak MB |",
    "| --- | --- | --- | --- | --- | --- |",
)
Step = Callable[[], Cost]


def texts(number: int, words: int) -> Iterator[str]:
    """Yield `number` texts, always the same."""
    chance = random.Random(2026)
    for _ in range(number):
        yield " ".join(
            f"w{rank:x}e" for rank in chance.choices(range(_VOCABULARY), cum_weights=_RANKS, k=words)
        )


def write_files(folder: Path, number: int, words: int) -> None:
    """Write files, a hundred in a folder."""
    for place, text in enumerate(texts(number, words)):
        inner = folder / f"{place // IN_A_FOLDER:05d}"
        inner.mkdir(parents=True, exist_ok=True)
        (inner / f"{place}.txt").write_text(text + "\n")


def write_rows(file: Path, number: int, words: int) -> None:
    """Write the rows of a table."""
    with closing(sqlite3.connect(file)) as table, table:
        table.execute("CREATE TABLE document (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
        rows = ((place, f"Row {place}", text) for place, text in enumerate(texts(number, words), 1))
        table.executemany("INSERT INTO document VALUES (?, ?, ?)", rows)


def crawled(folder: Path, name: str, number: int) -> Cost:
    """Crawl a source, and check that all its documents succeeded."""
    cost = ultracrawl(folder, "crawl", name, "--json")
    outcomes = json.loads(cost.output)["runs"][0]["outcomes"]
    if sum(outcomes.get(one, 0) for one in ("NEW", "NOT_MODIFIED")) != number:
        raise SystemExit(f"{name}: not all of {number} documents are there: {outcomes}")
    return cost


def others(folder: Path) -> Iterator[tuple[str, Step]]:
    """Yield the installed other programs that index folders."""
    files = folder / "files"
    if shutil.which("omindex"):
        yield "omindex", lambda: run(["omindex", "--db", folder / "omega", "--url", "/", files], folder)
    if shutil.which("recollindex"):
        home = folder / "recoll"
        home.mkdir()
        (home / "recoll.conf").write_text(f"topdirs = {files}\n")
        yield "recollindex", lambda: run(["recollindex", "-c", home], folder)


def show(name: str, number: int, cost: Cost) -> None:
    """Print a row."""
    a_document = cost.cpu / number * 1e3
    print(
        f"| {name} | {number:,} | {cost.seconds:.1f} | {cost.cpu:.1f} | {a_document:.2f} | {cost.peak_mb:.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--engine", default="whoosh")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = {
            "type": "table",
            "connection": f"sqlite:///{folder}/rows.db",
            "table": "document",
            "key": ["id"],
        }
        sources = {
            "files": {"type": "file", "paths": ["files"]},
            "rows": {**table, "text": ["title", "body"], "display_url": "https://rows.example.com/{id}"},
        }
        project = {"index": {"engine": options.engine, "path": "var/index"}, "sources": sources}
        (folder / "ultracrawl.yaml").write_text(json.dumps(project))
        print(*HEAD, sep="\n")
        steps: list[tuple[str, int, Step]] = []
        if options.files:
            write_files(folder / "files", options.files, options.words)
            steps.append(
                ("ultracrawl, files", options.files, lambda: crawled(folder, "files", options.files))
            )
            steps += [(f"{other}, files", options.files, step) for other, step in others(folder)]
        if options.rows:
            write_rows(folder / "rows.db", options.rows, options.words)
            steps.append(
                ("ultracrawl, rows of SQLite", options.rows, lambda: crawled(folder, "rows", options.rows))
            )
        for label, number, step in steps:
            show(label, number, step())
            show(f"{label}, unchanged", number, step())


if __name__ == "__main__":
    main()
