"""The shapes of plots over runs; how they look, the styles of a page or a file say."""

from __future__ import annotations

from collections.abc import Sequence
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
