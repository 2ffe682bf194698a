"""The figures of all runs by row and corpus; tables show the best run of each row, that with the least CPU time.

Others on the same machine, and its clock, only add to the time of a run, by up to half; a median has their part too.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from measuring.cost import Cost
from ultracrawl import __version__


@dataclass(frozen=True)
class Row:
    """A row of the table; `ours` are runs of this program."""

    key: str
    label: str
    ours: bool = False
    searchable: bool = False
    """Whether the pages can be searched at its end."""


ROWS = {
    row.key: row
    for row in (
        Row("whoosh", "ultracrawl, first crawl to searchable, whoosh", ours=True, searchable=True),
        Row("whoosh_core", "ultracrawl with the compiled core, whoosh", ours=True, searchable=True),
        Row("no_anchors", "ultracrawl, whoosh, without texts of links", ours=True, searchable=True),
        Row(
            "no_anchors_core",
            "ultracrawl with the compiled core, whoosh, without texts of links",
            ours=True,
            searchable=True,
        ),
        Row("tantivy", "ultracrawl, first crawl to searchable, tantivy", ours=True, searchable=True),
        Row("tantivy_core", "ultracrawl with the compiled core, tantivy", ours=True, searchable=True),
        Row("unchanged", "ultracrawl, second crawl, all 304", ours=True, searchable=True),
        Row("no_documents", "ultracrawl: fetch, parse, links, state; no documents", ours=True),
        Row("one_page", "ultracrawl, crawl of one page (`--url`)", ours=True),
        Row("search", "ultracrawl, search of one word (whole command), from the second one on", ours=True),
        Row("stock", "plain Scrapy CrawlSpider + stock Whoosh", searchable=True),
        Row("omindex", "wget -r + omindex", searchable=True),
        Row("colly", "Colly (Go): fetch, links, text"),
        Row("spider", "spider (Rust): fetch, links"),
        Row("crawlee", "Crawlee for Python, Parsel: fetch, links, text"),
        Row("wget", "wget -r: mirror"),
    )
}
COMMANDS = ("one_page", "search")
"""Rows about a whole command, not about pages."""


@dataclass(frozen=True)
class Measured:
    """One run."""

    pages: int
    seconds: float
    cpu: float
    peak_mb: float
    index_cpu: float = 0.0
    """CPU seconds of the index process; 0 if there is none."""

    @classmethod
    def of(cls, pages: int, cost: Cost, index_cpu: float = 0.0) -> Measured:
        """Return the figures of a command."""
        cpu, seconds = round(cost.cpu, 3), round(cost.seconds, 3)
        return cls(pages, seconds, cpu, round(cost.peak_mb, 1), round(index_cpu, 3))

    @property
    def pages_a_second(self) -> float:
        """Pages per second of the whole command."""
        return self.pages / self.seconds

    @property
    def cpu_ms_a_page(self) -> float:
        """CPU milliseconds of all processes per page."""
        return self.cpu * 1000 / self.pages

    @property
    def index_ms_a_page(self) -> float:
        """CPU milliseconds of the index process per page."""
        return self.index_cpu * 1000 / self.pages


@dataclass(frozen=True)
class Stamp:
    """The origin of figures: version and machine."""

    version: str
    date: str
    machine: str
    load: float = 0.0
    """Load of the machine at the start; above 0.5 the times are not reliable."""

    @classmethod
    def of_now(cls) -> Stamp:
        """Return the stamp of this version on this machine."""
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        return cls(__version__, f"{datetime.now(UTC):%Y-%m-%d}", machine, round(os.getloadavg()[0], 1))

    def __str__(self) -> str:
        said = f"Version {self.version}, {self.date}, {self.machine}"
        return said + (f"; **load of the machine {self.load:g}**" if self.load >= 0.5 else "")


@dataclass
class Results:
    """All runs, with their stamp."""

    stamp: Stamp
    runs: dict[str, dict[str, list[Measured]]] = field(default_factory=dict)
    """By corpus and row."""
    reading: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By corpus: microseconds of reading a page, and of the same work by the parser alone."""

    def add(self, corpus: str, row: str, measured: Measured) -> None:
        """Add a run."""
        self.runs.setdefault(corpus, {}).setdefault(row, []).append(measured)

    def with_core(self, corpus: str, row: str) -> str:
        """Return the row of a crawl with the compiled core; the given one if there is none or it was not measured."""
        core = f"{row}_core"
        return core if self.has(corpus, core) else row

    def has(self, corpus: str, row: str) -> bool:
        """Return whether a row was measured."""
        return bool(self.runs.get(corpus, {}).get(row))

    def figure(self, corpus: str, row: str, name: str) -> float | None:
        """Return a figure of the best run of a row; None if the row was not measured."""
        found = self.runs.get(corpus, {}).get(row)
        return getattr(min(found, key=lambda one: one.cpu_ms_a_page), name) if found else None

    def spread(self) -> float:
        """Return by what share the CPU time of the worst run exceeds that of the best one, the largest of all rows."""
        rows = (found for rows in self.runs.values() for found in rows.values())
        costs = ([one.cpu_ms_a_page for one in found] for found in rows)
        return max((max(found) / min(found) - 1 for found in costs), default=0.0)

    def rows(self) -> Iterable[Row]:
        """Return the rows measured on any corpus, in the order of the table."""
        return [row for row in ROWS.values() if any(self.has(corpus, row.key) for corpus in self.runs)]

    def disagreements(self) -> list[str]:
        """Return a line for every crawler whose page count differs from ours by more than 1 %."""
        said = []
        for corpus in self.runs:
            ours = self.figure(corpus, "whoosh", "pages") or self.figure(corpus, "tantivy", "pages")
            for row in self.rows():
                pages = self.figure(corpus, row.key, "pages")
                if ours and pages is not None and row.key not in COMMANDS and abs(pages - ours) > ours / 100:
                    said.append(f"{corpus}: {row.label} saw {pages:g} pages, the first crawl {ours:g}")
        return said

    def to_json(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Results:
        """Return the results of `to_json`."""
        runs = {
            corpus: {row: [Measured(**one) for one in found] for row, found in rows.items()}
            for corpus, rows in values["runs"].items()
        }
        return cls(
            Stamp(**values["stamp"]),
            runs,
            {corpus: (ours, floor) for corpus, (ours, floor) in values["reading"].items()},
        )
