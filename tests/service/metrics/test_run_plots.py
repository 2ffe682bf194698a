"""Plots over runs: places, scales, failed and unfinished runs, and the file."""

from __future__ import annotations

from lxml import etree

from ultracrawl.service.metrics.run_history import RunEnd, RunNumbers
from ultracrawl.service.metrics.run_plots import (
    PLOT_HEIGHT,
    WIDTH,
    PlotKind,
    place_of,
    plots,
    plots_file,
    sparkline,
)

RUNS = (
    RunNumbers(1, 1.0, RunEnd.DONE, 10.0, fetched=50, new=40, modified=5, deleted=5),
    RunNumbers(2, 2.0, RunEnd.FAILED, 5.0, fetched=0, problem="no network"),
    RunNumbers(3, 3.0, RunEnd.UNFINISHED),
    RunNumbers(5, 5.0, RunEnd.DONE, 20.0, fetched=100),
)


def test_the_highest_bar_is_that_of_the_most_pages() -> None:
    bars = sparkline(RUNS, 14, live=25)
    assert [(bar.kind, bar.height) for bar in bars] == [
        ("done", 8.0),
        ("failed", 8.0),
        ("unfinished", 4.0),
        ("done", 16.0),
    ]
    assert [bar.x for bar in bars] == [70, 77, 84, 91], "at the right edge"
    assert sparkline((), 14) == []


def test_runs_keep_their_places_and_each_plot_has_its_scale() -> None:
    found = {plot.kind: plot for plot in plots(RUNS)}
    pages = found[PlotKind.PAGES]
    assert [bar.x for bar in pages.bars] == [250.0, 270.0, 290.0], "run 4 has a place, and run 2 a mark"
    assert [bar.kind for bar in pages.bars] == ["done", "missing", "done"]
    assert (pages.most, pages.latest, len(pages.failed)) == (100, 100, 1)
    changes = found[PlotKind.CHANGES].bars
    assert [bar.kind for bar in changes] == ["new", "modified", "gone", "missing"]
    assert round(sum(bar.height for bar in changes[:3]), 1) == PLOT_HEIGHT
    assert plots(()) == []


def test_a_moment_stands_between_the_runs_around_it() -> None:
    bars = plots(RUNS)[0].bars
    for moment, left, right in (
        (1.5, bars[0].x, 260.0),
        (4.0, bars[1].x, bars[2].x),
        (9.0, bars[2].x, WIDTH),
    ):
        place = place_of(RUNS, moment)
        assert place is not None
        assert left + bars[0].width < place < right
    assert place_of(RUNS, 0.5) is None, "before the first run that is shown"
    assert place_of((), 1.0) is None


def test_a_number_that_older_reports_lack_has_no_bar() -> None:
    runs = (*RUNS, RunNumbers(6, 6.0, RunEnd.DONE, 9.0, fetched=9, documents=70, answer_seconds=0.25))
    found = {plot.kind: plot for plot in plots((*runs, RunNumbers(7, 7.0, RunEnd.DONE)))}
    assert [bar.kind for bar in found[PlotKind.DOCUMENTS].bars] == ["missing", "done"]
    assert (found[PlotKind.DOCUMENTS].latest, found[PlotKind.ANSWER].latest) == (70, 250)


def test_a_file_is_svg_by_itself() -> None:
    drawn = etree.fromstring(plots_file("a<b", plots(RUNS)).encode())
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(drawn.findall("{*}g")) == len(PlotKind)
    assert drawn.findtext("{*}title") == "a<b"
