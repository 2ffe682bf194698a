"""The performance goals of the crawler, as ratios to others in the same run, and how far they are reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from measuring.results import Results

Measure = Callable[[Results, str], float | None]


@dataclass(frozen=True)
class Aim:
    """A goal for a figure on each corpus of `goals`."""

    text: str
    goals: dict[str, float]
    measure: Measure
    unit: str = ""
    below: bool = False
    """Whether less is better."""
    cost: Measure | None = None
    """Our cost in microseconds per page, to tell how many of them are too many."""

    def verdict(self, results: Results, corpus: str) -> str:
        """Return the measured figure, and by how much the goal is missed."""
        measured, goal = self.measure(results, corpus), self.goals[corpus]
        if measured is None:
            return "not measured"
        missed = measured / goal - 1 if self.below else 1 - measured / goal
        text = f"{number(measured)}{self.unit}"
        if missed <= 0:
            return f"{text}, reached"
        cost = self.cost(results, corpus) if self.cost else None
        too_much = cost * (1 - goal / measured if self.below else missed) if cost else None
        return f"{text}, not, by {missed * 100:.0f} %" + (
            f": {too_much:,.0f} µs too many" if too_much else ""
        )


def number(value: float) -> str:
    """Format a figure with three digits, from a hundred on as an integer."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(name: str, row: str, other: str) -> Measure:
    def measure(results: Results, corpus: str) -> float | None:
        ours, theirs = _ours(results, corpus, row, name), results.figure(corpus, other, name)
        return ours / theirs if ours is not None and theirs else None

    return measure


def _ours(results: Results, corpus: str, row: str, name: str) -> float | None:
    """Return a figure of ours, with the compiled core where that was measured."""
    return results.figure(corpus, results.with_core(corpus, row), name)


def _figure(row: str, name: str) -> Measure:
    return lambda results, corpus: _ours(results, corpus, row, name)


def _microseconds(row: str, name: str) -> Measure:
    """Return the microseconds per page of a row: CPU time, or wall time for speeds."""

    def measure(results: Results, corpus: str) -> float | None:
        value = _ours(results, corpus, row, name)
        if not value:
            return None
        return 1e6 / value if name == _SPEED else 1000 * value

    return measure


def _anchors(results: Results, corpus: str) -> tuple[float, float] | None:
    """Return CPU milliseconds per page of a first crawl with anchor texts and without."""
    with_texts = _ours(results, corpus, "whoosh", "cpu_ms_a_page")
    without = _ours(results, corpus, "no_anchors", "cpu_ms_a_page")
    return (with_texts, without) if with_texts and without else None


def _share_of_anchors(results: Results, corpus: str) -> float | None:
    """Return the share in percent; None if it is below the noise, so that crawls with texts seem cheaper."""
    found = _anchors(results, corpus)
    return (found[0] - found[1]) / found[0] * 100 if found and found[0] > found[1] else None


def _cost_of_anchors(results: Results, corpus: str) -> float | None:
    found = _anchors(results, corpus)
    return (found[0] - found[1]) * 1000 if found else None


def _reading(results: Results, corpus: str) -> float | None:
    found = results.reading.get(corpus)
    return found[0] / found[1] if found else None


_SPEED, _CPU = "pages_a_second", "cpu_ms_a_page"
_LESS = "(less is better)"


def _speed(row: str, other: str, text: str, pg: float, jdk: float) -> Aim:
    text = f"first crawl, {text}: pages/s"
    return Aim(text, {"pg": pg, "jdk": jdk}, _ratio(_SPEED, row, other), cost=_microseconds(row, _SPEED))


def _cpu(other: str, text: str, pg: float, jdk: float) -> Aim:
    measure, cost = _ratio(_CPU, "no_documents", other), _microseconds("no_documents", _CPU)
    text = f"no documents: CPU a page to {text} {_LESS}"
    return Aim(text, {"pg": pg, "jdk": jdk}, measure, below=True, cost=cost)


def _at_most(text: str, goals: dict[str, float], row: str, name: str, unit: str) -> Aim:
    cost = _microseconds(row, name) if unit == " ms" else None
    return Aim(text, goals, _figure(row, name), unit, below=True, cost=cost)


AIMS = (
    _speed("whoosh", "stock", "whoosh, to stock Scrapy + Whoosh", pg=5.8, jdk=20),
    _speed("tantivy", "stock", "tantivy, to the same", pg=5.8, jdk=20),
    _speed("tantivy", "omindex", "tantivy, to wget + omindex", pg=1.4, jdk=2.4),
    _cpu("colly", "Colly's", pg=1.2, jdk=0.3),
    _cpu("spider", "spider's links only", pg=3, jdk=2),
    Aim(
        f"reading a page to the parser's own way through it {_LESS}",
        {"pg": 2.0, "jdk": 1.8},
        _reading,
        below=True,
        cost=lambda results, corpus: results.reading[corpus][0] if corpus in results.reading else None,
    ),
    Aim(
        "all 304: pages/s",
        {"jdk": 2700},
        _figure("unchanged", _SPEED),
        cost=_microseconds("unchanged", _SPEED),
    ),
    _at_most("all 304: CPU a page", {"jdk": 0.37}, "unchanged", _CPU, " ms"),
    _at_most(
        "index process, whoosh: CPU a document, commits and merges included",
        {"jdk": 0.85},
        "whoosh",
        "index_ms_a_page",
        " ms",
    ),
    Aim(
        "texts of links: share of the CPU of a first crawl",
        {"pg": 5, "jdk": 5},
        _share_of_anchors,
        " %",
        below=True,
        cost=_cost_of_anchors,
    ),
    _at_most("crawl of one page (whole command)", {"pg": 0.65}, "one_page", "seconds", " s"),
    _at_most("search of one word (whole command)", {"pg": 0.2}, "search", "seconds", " s"),
    _at_most("memory: peak of all processes, whoosh", {"jdk": 350}, "whoosh", "peak_mb", " MB"),
)
