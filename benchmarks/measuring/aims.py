"""What the crawler aims at, as ratios to others in the same run, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from measuring.results import Results

Measure = Callable[[Results, str], float | None]


@dataclass(frozen=True)
class Aim:
    """A figure that is to be reached on each corpus of `goals`."""

    text: str
    goals: dict[str, float]
    measure: Measure
    unit: str = ""
    below: bool = False
    """Less is better."""

    def verdict(self, results: Results, corpus: str) -> str:
        """Say how it stands: what was measured, and by how much it is missed."""
        measured, goal = self.measure(results, corpus), self.goals[corpus]
        if measured is None:
            return "not measured"
        missed = measured / goal - 1 if self.below else 1 - measured / goal
        said = "reached" if missed <= 0 else f"not, by {missed * 100:.0f} %"
        return f"{number(measured)}{self.unit}, {said}"


def number(value: float) -> str:
    """Write a figure with three digits, and whole from a hundred on."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(name: str, row: str, other: str) -> Measure:
    def measure(results: Results, corpus: str) -> float | None:
        ours, theirs = results.figure(corpus, row, name), results.figure(corpus, other, name)
        return ours / theirs if ours is not None and theirs else None

    return measure


def _figure(row: str, name: str) -> Measure:
    return lambda results, corpus: results.figure(corpus, row, name)


def _share_of_anchors(results: Results, corpus: str) -> float | None:
    with_texts = results.figure(corpus, "whoosh", "cpu")
    without = results.figure(corpus, "no_anchors", "cpu")
    return (with_texts - without) / with_texts * 100 if with_texts and without else None


_SPEED, _CPU = "pages_a_second", "cpu_ms_a_page"
AIMS = (
    Aim(
        "first crawl, whoosh, to stock Scrapy + Whoosh: pages/s",
        {"pg": 6, "jdk": 20},
        _ratio(_SPEED, "whoosh", "stock"),
    ),
    Aim(
        "first crawl, tantivy, to the same: pages/s", {"pg": 9, "jdk": 30}, _ratio(_SPEED, "tantivy", "stock")
    ),
    Aim(
        "first crawl, tantivy, to wget + omindex: pages/s",
        {"pg": 2, "jdk": 4},
        _ratio(_SPEED, "tantivy", "omindex"),
    ),
    Aim(
        "no documents: CPU a page to Colly's (less is better)",
        {"pg": 1.2, "jdk": 0.3},
        _ratio(_CPU, "no_documents", "colly"),
        below=True,
    ),
    Aim(
        "no documents: CPU a page to spider's links only (less is better)",
        {"pg": 3, "jdk": 2},
        _ratio(_CPU, "no_documents", "spider"),
        below=True,
    ),
    Aim(
        "reading a page to the parser's own way through it (less is better)",
        {"pg": 1.5, "jdk": 1.5},
        lambda results, corpus: results.reading.get(corpus),
        below=True,
    ),
    Aim("all 304: pages/s", {"jdk": 2700}, _figure("unchanged", _SPEED)),
    Aim("all 304: CPU a page", {"jdk": 0.37}, _figure("unchanged", _CPU), " ms", below=True),
    Aim(
        "index process, whoosh: CPU a document, commits and merges included",
        {"jdk": 1.0},
        _figure("whoosh", "index_ms_a_page"),
        " ms",
        below=True,
    ),
    Aim(
        "texts of links: share of the CPU of a first crawl",
        {"pg": 5, "jdk": 5},
        _share_of_anchors,
        " %",
        below=True,
    ),
    Aim("crawl of one page (whole command)", {"pg": 0.45}, _figure("one_page", "seconds"), " s", below=True),
    Aim("search of one word (whole command)", {"pg": 0.2}, _figure("search", "seconds"), " s", below=True),
    Aim(
        "memory: peak of all processes, whoosh", {"jdk": 250}, _figure("whoosh", "peak_mb"), " MB", below=True
    ),
)
