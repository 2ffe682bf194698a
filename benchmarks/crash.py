"""The long version of the crash test: 200 kills over a crawl of 2,000 pages.

    python benchmarks/crash.py [--kills 200] [--pages 2000] [--seed 1] [--engine whoosh --engine tantivy]

Kills the crawl and all its processes (SIGKILL) at random moments, restarts it, and finally compares document table
and index with those of an undisturbed crawl: every field of every document, and the hits of searches in titles, texts
and anchor texts. Prints one JSON object; exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.crash import build, shake  # noqa: E402 - after the path is set
from support.site import Site  # noqa: E402 - after the path is set

ENGINES = ("whoosh", "tantivy")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", action="append", choices=ENGINES)
    options = parser.parse_args()
    site = Site()
    build(site, options.pages)
    started = time.monotonic()
    with site.serve() as url, tempfile.TemporaryDirectory() as name:
        results = {
            engine: shake(
                site,
                url,
                Path(name, engine),
                pages=options.pages,
                kills=options.kills,
                seed=options.seed,
                engine=engine,
            )
            for engine in options.engine or ENGINES
        }
    shaken = {engine: asdict(result) for engine, result in results.items()}
    print(
        json.dumps({**shaken, "pages": options.pages, "seconds": round(time.monotonic() - started)}, indent=2)
    )
    raise SystemExit(1 if any(result.differences for result in results.values()) else 0)


if __name__ == "__main__":
    main()
