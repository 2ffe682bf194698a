"""Runs this program as a user would: `ultracrawl crawl --json` in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.nginx import nginx_site

from measuring.cost import Cost, NotAvailableError, run
from measuring.results import Measured
from ultracrawl.system.compiled_core import SWITCH, CoreState, core_state

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("NEW", "MODIFIED", "UNMODIFIED", "NOT_MODIFIED", "NOT_INDEXED")
INDEX_PROCESS = "ultracrawl.index.writing"
"""Part of the command line of the process that writes the index."""

_DEFINITION = """
sources:
  site:
    type: web
    start_urls: [{url}]
    {source}
    politeness: {{delay: 0, concurrency: 32}}
    boundary:
      networks: [127.0.0.0/8]
{project}
"""


def definition(url: str, *, source: str = "", project: str = "") -> str:
    """Return a definition of one source, with additional lines of the source and the project."""
    return _DEFINITION.format(url=url, source=source, project=project)


def command(*arguments: str, tree: Path = ROOT) -> tuple[list[str], dict[str, str]]:
    """Return the command line of a verb and its environment variables."""
    path = os.pathsep.join([str(tree), str(ROOT / "benchmarks")])
    return [sys.executable, "-m", "ultracrawl", *arguments], {"PYTHONPATH": path}


def ultracrawl(folder: Path, *arguments: str, **further: str) -> Cost:
    """Run a verb in a folder, with additional environment variables."""
    words, environment = command(*arguments)
    return run(words, folder, environment={**environment, **further}, accepted=(0, 1))


def crawled(cost: Cost) -> Measured:
    """Return the figures of a crawl, with the page count of its report."""
    outcomes = json.loads(cost.output)["runs"][0]["outcomes"]
    pages = sum(outcomes.get(name, 0) for name in PAGES)
    return Measured.of(pages, cost, cost.cpu_of(INDEX_PROCESS))


@dataclass(frozen=True)
class Ours:
    """A first crawl with one definition, and, with `again`, a second crawl and a search."""

    name: str
    project: str = ""
    source: str = ""
    again: bool = False
    core: bool = False
    """Whether the compiled core of the index is used."""

    def prepare(self, place: Path) -> None:
        """Nothing to build. Raises `NotAvailableError` if the compiled core is to be used and cannot be."""
        if self.core and (state := core_state()) is not CoreState.USED:
            raise NotAvailableError(f"the compiled core (make core): {state}")

    def measure(self, url: str, folder: Path) -> Iterator[tuple[str, Measured]]:
        """Crawl; with `again` also crawl again and search."""
        text = definition(url, source=self.source, project=self.project)
        (folder / "ultracrawl.yaml").write_text(text)
        switched = {SWITCH: "1" if self.core else "0"}
        yield self.name, crawled(ultracrawl(folder, "crawl", "--json", **switched))
        if self.again:
            yield "unchanged", crawled(ultracrawl(folder, "crawl", "--json", **switched))
            ultracrawl(folder, "search", "--json", "create")  # warm-up for the measured searches
            yield "search", Measured.of(1, ultracrawl(folder, "search", "--json", "create"))


class OnePage:
    """A crawl of one page without links and without a definition file."""

    name = "one_page"

    def prepare(self, place: Path) -> None:
        """Nothing to build."""

    def measure(self, url: str, folder: Path) -> Iterator[tuple[str, Measured]]:
        """Crawl it."""
        site = folder / "site"
        site.mkdir()
        (site / "index.html").write_text("<title>Alone</title><p>A page without links.")
        with nginx_site(site) as server:
            cost = ultracrawl(folder, "crawl", "--url", f"{server.url}/", "--delay", "0", "--json")
        shutil.rmtree(site)
        yield self.name, crawled(cost)


OURS = (
    Ours("whoosh", again=True),
    Ours("whoosh_core", core=True),
    Ours("no_anchors", "index: {anchors: false}"),
    Ours("no_anchors_core", "index: {anchors: false}", core=True),
    Ours("tantivy", "index: {engine: tantivy}"),
    Ours("tantivy_core", "index: {engine: tantivy}", core=True),
    Ours("no_documents", source="class: no_index.NoIndex"),
    OnePage(),
)
