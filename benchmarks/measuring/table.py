"""The Markdown tables of a comparison, and their insertion into the documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from measuring.aims import AIMS, number
from measuring.results import COMMANDS, ROWS, Results, Row

_FIGURES = {"pages_a_second": "pages/s", "cpu_ms_a_page": "CPU ms a page", "peak_mb": "peak MB"}
_FIRST = {
    "whoosh": "first crawl, whoosh",
    "whoosh_core": "whoosh with core",
    "tantivy": "first crawl, tantivy",
    "tantivy_core": "tantivy with core",
    "no_documents": "no documents",
}
"""Our rows that others are compared with: searchable ones with first crawls."""


def measurements(results: Results) -> str:
    """Return a line for each crawler: speed, CPU and memory on each corpus."""
    corpora = list(results.runs)
    names = [f"{corpus}: {name}" for corpus in corpora for name in _FIGURES.values()]
    lines = [_line("", *names), _rule(len(names))]
    for row in results.rows():
        if row.key not in COMMANDS:
            cells = [_cell(results, corpus, row, name) for corpus in corpora for name in _FIGURES]
            label = f"**{row.label}**" if row.ours else row.label
            lines.append(_line(label, *cells))
    return "\n".join(lines)


def method(results: Results) -> str:
    """Return a sentence about the runs that the figures are taken from."""
    turns = ", ".join(
        f"{max(map(len, rows.values()), default=0)} over {corpus}" for corpus, rows in results.runs.items()
    )
    return f"Best of up to {turns}; a worst run took up to {results.spread():.0%} more CPU"


def commands(results: Results) -> str:
    """Return a line for each whole command that was measured."""
    corpus = next(iter(results.runs), "")
    lines = [_line("", "s", "CPU s", "peak MB"), _rule(3)]
    for row in results.rows():
        if row.key in COMMANDS and results.has(corpus, row.key):
            cells = [_number(results.figure(corpus, row.key, name)) for name in ("seconds", "cpu", "peak_mb")]
            lines.append(_line(row.label, *cells))
    return "\n".join(lines)


def ratios(results: Results) -> str:
    """Return our pages per second as multiples of each other crawler."""
    corpora = list(results.runs)
    columns = [(corpus, row) for corpus in corpora for row in _FIRST if results.has(corpus, row)]
    lines = [_line("", *(f"{corpus}: {_FIRST[row]}" for corpus, row in columns)), _rule(len(columns))]
    for other in results.rows():
        if not other.ours:
            cells = [
                _times(results, corpus, row, other.key) if ROWS[row].searchable == other.searchable else ""
                for corpus, row in columns
            ]
            lines.append(_line(other.label, *cells))
    return "\n".join(lines)


def verdicts(results: Results) -> str:
    """Return a line for each goal: its value, the measured figure, by how much it is missed."""
    corpora = list(dict.fromkeys(corpus for aim in AIMS for corpus in aim.goals))
    names = [text for corpus in corpora for text in (f"{corpus}: aim", f"{corpus}: now")]
    lines = [_line("", *names), _rule(len(names))]
    for aim in AIMS:
        cells: list[str] = []
        for corpus in corpora:
            known = corpus in aim.goals
            cells += (
                [f"{number(aim.goals[corpus])}{aim.unit}", aim.verdict(results, corpus)]
                if known
                else ["", ""]
            )
        lines.append(_line(aim.text, *cells))
    return "\n".join(lines)


def report(results: Results) -> str:
    """Return all tables as printed."""
    parts = [str(results.stamp), measurements(results), commands(results)]
    parts += ["Pages/s as a multiple of theirs:", ratios(results), "Aims:", verdicts(results)]
    disagreements = results.disagreements()
    if disagreements:
        parts.append("Other numbers of pages:\n\n" + "\n".join(f"* {one}" for one in disagreements))
    return "\n\n".join(parts)


def summary(results: Results, corpus: str) -> str:
    """Return the lines of the README about one corpus."""
    lines = [_line("", "pages/s", "CPU ms a page"), _rule(2)]
    for key in ("stock", "omindex", "whoosh", "whoosh_core", "tantivy", "tantivy_core", "unchanged"):
        row = next((row for row in results.rows() if row.key == key), None)
        if row is not None and results.has(corpus, key):
            cells = [_cell(results, corpus, row, name) for name in ("pages_a_second", "cpu_ms_a_page")]
            lines.append(_line(row.label, *(f"**{cell}**" if row.ours else cell for cell in cells)))
    return f"{results.stamp}:\n\n" + "\n".join(lines)


def replace_blocks(file: Path, blocks: Mapping[str, str]) -> None:
    """Replace the texts between the marks `<!-- NAME begin -->` and `<!-- NAME end -->` of a page."""
    text = file.read_text(encoding="utf-8")
    for name, block in blocks.items():
        begin, end = f"<!-- {name} begin -->", f"<!-- {name} end -->"
        pattern = re.compile(f"(?<={re.escape(begin)}\n).*?(?={re.escape(end)})", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"{file}: there is no place for {name}")
        text = pattern.sub(lambda _, block=block: f"{block}\n", text)  # type: ignore[misc]
    file.write_text(text, encoding="utf-8")


def _cell(results: Results, corpus: str, row: Row, name: str) -> str:
    return _number(results.figure(corpus, row.key, name))


def _number(value: float | None) -> str:
    return number(value) if value else "–"


def _times(results: Results, corpus: str, row: str, other: str) -> str:
    ours, theirs = (results.figure(corpus, key, "pages_a_second") for key in (row, other))
    return f"{number(ours / theirs)}" if ours is not None and theirs else "–"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return _line(*["---"] * (columns + 1))
