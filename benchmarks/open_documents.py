"""How far the index is behind the crawl: `python benchmarks/open_documents.py [--rounds 3] [--corpus java-all]`.

Crawls a manual for the first time and prints, for each engine with the compiled core and without it, how many documents
were not in the index yet when the last page had been read, how many commits there were, how many segments the index has
at the end (`whoosh`), and the seconds of the crawl, of the CPU, and of the index process. Best of the rounds, by open
documents; on a machine that is busy with other things the index falls behind more.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scrapy.http import Response

from ultracrawl.model import Page
from ultracrawl.run import context_of
from ultracrawl.spiders import SourceSpider

ROOT = Path(__file__).resolve().parents[1]
FIGURES = Path("open.json")
"""What the spider leaves for the benchmark, in the folder of the crawl."""
ENGINES = ("whoosh", "tantivy")


class Counting(SourceSpider):
    """A source spider that counts its documents, and those that are indexed whenever a page has been read."""

    made = indexed = 0

    def documents(self, response: Response, page: Page) -> Iterable[Any]:
        """Return the document of the page."""
        self.made += 1
        self.indexed = context_of(self.crawler).counters.indexed
        return super().documents(response, page)

    def closed(self, reason: str) -> None:
        """Leave the figures of the last page; called by Scrapy."""
        FIGURES.write_text(json.dumps({"documents": self.made, "open": self.made - self.indexed}))


def segments(folder: Path) -> int:
    """Return the number of segments of the index of a project, as its files tell; 0 for other engines."""
    return len({path.name for path in folder.rglob("*.trm")} | {path.name for path in folder.rglob("*.seg")})


def measure(url: str, engine: str, core: str) -> dict[str, Any]:
    """Crawl a site into a new index and return the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = definition(
            url, source="class: open_documents.Counting", project=f"index: {{engine: {engine}}}"
        )
        (folder / "ultracrawl.yaml").write_text(text)
        cost = ultracrawl(folder, "crawl", "--json", ULTRACRAWL_CORE=core)
        figures = json.loads((folder / FIGURES).read_text())
        return {
            "engine": engine,
            "core": json.loads(cost.output)["runs"][0]["core"],
            **figures,
            "share": round(figures["open"] / figures["documents"], 3),
            "segments": segments(folder),
            "seconds": round(cost.seconds, 2),
            "cpu": round(cost.cpu, 2),
            "index_cpu": round(cost.cpu_of(INDEX_PROCESS), 2),
            "peak_mb": round(cost.peak_mb),
        }


def rounds(url: str, number: int, engines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the best of some rounds for each engine, with the core and without it, in turns."""
    cases = [(engine, core) for engine in engines for core in ("1", "0")]
    found = [[measure(url, *case) for case in cases] for _ in range(number)]
    for measured in zip(*found, strict=True):
        yield min(measured, key=lambda figures: figures["open"])


def main() -> None:
    """Measure and print a line of JSON for each engine with the core and without it."""
    parser = parser_of(__doc__)
    parser.add_argument("--corpus", choices=CORPORA, default="postgresql")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine", action="append", choices=ENGINES)
    options = parser.parse_args()
    manual = manual_of(options.corpus, options.packages)
    start = CORPORA[options.corpus].starts[0]
    with nginx_site(manual) as server:
        for figures in rounds(f"{server.url}/{start}", options.rounds, options.engine or ENGINES):
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from judging.corpora import CORPORA
    from measuring.command_line import manual_of, parser_of
    from measuring.ours import INDEX_PROCESS, definition, ultracrawl
    from support.nginx import nginx_site

    main()
