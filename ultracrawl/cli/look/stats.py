"""`ultracrawl stats`: shows the numbers of the latest runs of a source, and draws them."""

from __future__ import annotations

from pathlib import Path

import click

from ultracrawl.cli.options import (
    SOURCE_NAME,
    json_option,
    known_sources,
    print_json,
    readable_project_option,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.model.dates import iso
from ultracrawl.service.metrics.run_difference import RunDifference, compare_runs
from ultracrawl.service.metrics.run_history import RunNumbers, run_numbers
from ultracrawl.service.metrics.run_plots import PLOT_RUNS, plots, plots_file
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import state_to_read
from ultracrawl.system.files import convert_write_errors
from ultracrawl.system.nouns import counted


@click.command("stats")
@click.argument("source", type=SOURCE_NAME)
@readable_project_option
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=1, max=1000),
    default=PLOT_RUNS,
    show_default=True,
    help="Runs that are shown.",
)
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw them as SVG."
)
@click.option(
    "--compare",
    type=(click.IntRange(min=1), click.IntRange(min=1)),
    metavar="RUN RUN",
    help="Show two runs side by side, by their numbers, with the difference.",
)
@json_option
def command(
    source: str,
    project: Project,
    limit: int,
    plot: Path | None,
    compare: tuple[int, int] | None,
    as_json: bool,
) -> None:
    """Show the numbers of the latest runs of SOURCE, the newest first: pages, changes, errors, bytes and time.

    --plot draws the latest 30 runs, one plot for each number. --compare shows two of them side by side instead: what
    changed most comes first.

    \b
    Examples:
      ultracrawl stats handbook
      ultracrawl stats handbook --json --plot handbook.svg
      ultracrawl stats handbook --compare 206 213
    """  # noqa: D301 - click's mark for a block that keeps its lines
    (chosen,) = known_sources(project, [source])
    if compare is not None:
        found = compare_runs(project, chosen.name, *compare)
        if as_json:
            print_json(found.as_json())
        else:
            _print_difference(found)
        return
    with state_to_read(project, chosen.name) as state:
        runs = run_numbers(state.runs(limit)) if state is not None else ()
    if plot is not None:
        with convert_write_errors(plot):
            plot.write_text(plots_file(chosen.name, plots(runs[::-1])), encoding="utf-8")
    if as_json:
        print_json({"source": chosen.name, "runs": [run.as_json() for run in runs]})
        return
    if not runs:
        print_line(f"{chosen.name}: never crawled; `ultracrawl crawl {chosen.name}` does it")
        return
    print_line(f"{chosen.name}: {counted(len(runs), 'run')}")
    for run in runs:
        print_line(_line(run))


def _print_difference(found: RunDifference) -> None:
    """Print a table of the numbers that one of both runs has."""
    print_line(f"{found.source}: run {found.first.run} and run {found.second.run}")
    for rows in (found.numbers, found.outcomes, found.status_codes, found.rejected_by):
        for row in rows:
            if row.first or row.second:
                values = [_figure(row.first), _figure(row.second), _figure(row.difference, sign="+")]
                print_line("  ".join(["", *(f"{value:>13}" for value in values), row.name]))


def _figure(value: float | None, sign: str = "") -> str:
    """Return a number as people read it; a dash for one that is not known."""
    return "-" if value is None else f"{value:{sign if value else ''},.10g}"


def _line(run: RunNumbers) -> str:
    """Return the numbers of a run in one line."""
    changes = f"{run.new:,} new, {run.modified:,} modified, {run.deleted:,} deleted"
    size = f"{run.bytes / 1e6:,.1f} MB, {run.seconds:,.0f} s"
    numbers = run.problem or f"{run.fetched:,} fetched, {changes}, {run.errors:,} errors, {size}"
    limit = f"; limit reached: {run.limit}" if run.limit else ""
    return f"  {run.run}  {iso(run.began)}  {run.end}: {numbers}{limit}"
