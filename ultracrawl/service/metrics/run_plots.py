"""The shapes of plots over runs; how they look, the styles of a page or a file say."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from html import escape
from typing import NamedTuple

from ultracrawl.service.metrics.run_history import RunEnd, RunNumbers

BAR, GAP, HEIGHT = 6, 1, 16
"""Sizes in a sparkline, in pixels."""
_DOT = 1.5


class Bar(NamedTuple):
    """A bar of a plot, in pixels from its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    """`done`, `failed`, `running`, or `none` for a run without pages."""


def sparkline(runs: Sequence[RunNumbers], number: int, live: int = 0) -> list[Bar]:
    """Return the bars of the pages that each of the latest runs has read, at the right edge of `number` places.

    `live` are the pages of a run that goes on. The highest bar is that of the most pages.
    """
    pages = [one.fetched if one.end is not RunEnd.UNFINISHED else live for one in runs]
    most = max(pages, default=0)
    bars = []
    for place, (run, value) in enumerate(zip(runs, pages, strict=True), number - len(runs)):
        height = max(round(HEIGHT * value / most, 1), 2.0) if value else _DOT
        kind = "none" if not value else run.end.value
        if run.end is RunEnd.FAILED:
            kind, height = "failed", max(height, HEIGHT / 2)
        bars.append(Bar(place * (BAR + GAP), HEIGHT - height, BAR, height, kind))
    return bars


# ---- plots of a page


class PlotKind(StrEnum):
    """What a plot shows."""

    PAGES = "pages read"
    CHANGES = "documents changed"
    ERRORS = "errors"
    DOCUMENTS = "documents in the index"
    BYTES = "bytes read"
    ANSWER = "milliseconds until an answer"
    SPEED = "pages a second"
    SECONDS = "seconds"


WIDTH, PLOT_HEIGHT = 300, 84
"""Sizes of the area of a plot, in pixels."""
PLOT_RUNS = 30
_SERIES = ("new", "modified", "gone")
_MISSING = "missing"
_GROUND = 0.8
"""Part of the place of a run that its bar takes."""


class Plot(NamedTuple):
    """A plot over the latest runs: bars from 0, on a scale of its own. A run without numbers is a `missing` bar."""

    kind: PlotKind
    bars: list[Bar]
    failed: list[float]
    """The middles of failed runs."""
    most: float
    """The value at the upper edge."""
    latest: float
    """The value of the last run that has ended."""


def plots(runs: Sequence[RunNumbers]) -> list[Plot]:
    """Return the plots of runs, the oldest first; runs of which no number is known keep their places."""
    shown = runs[-PLOT_RUNS:]
    return [_plot(kind, shown) for kind in PlotKind] if shown else []


def telling_plots(runs: Sequence[RunNumbers]) -> list[Plot]:
    """Return the plots that show something: of two runs that have ended at least, and not 0 in all of them."""
    ended = sum(run.end is not RunEnd.UNFINISHED for run in runs[-PLOT_RUNS:])
    return [one for one in plots(runs) if any(bar.kind != _MISSING for bar in one.bars)] if ended > 1 else []


def place_of(runs: Sequence[RunNumbers], moment: float) -> float | None:
    """Return where in the plots of runs, the oldest first, a moment stands: left of the first run that began after it.

    In pixels from the left edge; None if the first run that is shown began after it.
    """
    shown = runs[-PLOT_RUNS:]
    if not shown or moment < shown[0].began:
        return None
    first, step = shown[-1].run - PLOT_RUNS + 1, WIDTH / PLOT_RUNS
    following = next((run.run - first for run in shown if run.began >= moment), PLOT_RUNS)
    return round((following - (1 - _GROUND) / 2) * step, 1)


def _plot(kind: PlotKind, runs: Sequence[RunNumbers]) -> Plot:
    values = [_values(kind, run) for run in runs]
    most = max(map(sum, values)) or 1.0
    step = WIDTH / PLOT_RUNS
    first = runs[-1].run - PLOT_RUNS + 1
    bars, failed, latest = list[Bar](), list[float](), 0.0
    for run, parts in zip(runs, values, strict=True):
        x = round((run.run - first) * step, 1)
        if run.end is RunEnd.UNFINISHED:
            bars.append(Bar(x, 0.0, round(step * _GROUND, 1), PLOT_HEIGHT, _MISSING))
            continue
        if run.end is RunEnd.FAILED:
            failed.append(round(x + step * _GROUND / 2, 1))
        top = float(PLOT_HEIGHT)
        for value, series in zip(
            parts, _SERIES if len(parts) > 1 else (run.end.value,) * len(parts), strict=True
        ):
            height = round(PLOT_HEIGHT * value / most, 1)
            top -= height
            if height:
                bars.append(Bar(x, round(top, 1), round(step * _GROUND, 1), height, series))
        latest = sum(parts) if parts else latest
    return Plot(kind, bars, failed, most, latest)


def _values(kind: PlotKind, run: RunNumbers) -> tuple[float, ...]:
    """Return what a run adds to a plot, from its ground up; nothing if its report does not have the number."""
    match kind:
        case PlotKind.PAGES:
            return (run.fetched,)
        case PlotKind.CHANGES:
            return run.new, run.modified, run.deleted
        case PlotKind.ERRORS:
            return (run.errors,)
        case PlotKind.DOCUMENTS:
            return () if run.documents is None else (run.documents,)
        case PlotKind.BYTES:
            return (run.bytes,)
        case PlotKind.ANSWER:
            return () if run.answer_seconds is None else (run.answer_seconds * 1000,)
        case PlotKind.SPEED:
            return (run.fetched / run.seconds if run.seconds else 0.0,)
        case PlotKind.SECONDS:
            return (run.seconds,)


_STYLE = (
    "text{font:12px sans-serif;fill:#191b21}rect{fill:#888fa0}.new{fill:#3148b5}.modified{fill:#7183d9}"
    ".gone{fill:#191b21}.failed,.mark{fill:#ae231c}.missing{fill:none;stroke:#868c9b;stroke-dasharray:2 2}"
)
_ROW, _MARGIN = PLOT_HEIGHT + 60, 30


def plots_file(source: str, found: Sequence[Plot]) -> str:
    """Return plots as an SVG file of its own, below each other."""
    height = _ROW * len(found) + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * _MARGIN}" height="{height}" role="img">',
        f"<title>{escape(source)}</title><style>{_STYLE}</style>",
    ]
    for number, plot in enumerate(found):
        lines.append(f'<g transform="translate({_MARGIN},{_ROW * number + 2 * _MARGIN})">')
        lines.append(
            f'<text y="-8">{escape(source)}: {plot.kind}, {plot.latest:,.6g}; up to {plot.most:,.6g}</text>'
        )
        lines += [
            f'<rect class="{bar.kind}" x="{bar.x}" y="{bar.y}" width="{bar.width}" height="{bar.height}"/>'
            for bar in plot.bars
        ]
        lines += [
            f'<path class="mark" d="M{x} {PLOT_HEIGHT + 2}l4 7h-8z"><title>failed</title></path>'
            for x in plot.failed
        ]
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])
