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
from ultracrawl.service.metrics.run_history import RunNumbers, run_numbers
from ultracrawl.service.metrics.run_plots import PLOT_RUNS, plots, plots_file
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import state_to_read
from ultracrawl.system.files import convert_write_errors


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
@json_option
def command(source: str, project: Project, limit: int, plot: Path | None, as_json: bool) -> None:
    """Show the numbers of the latest runs of SOURCE, the newest first: pages, changes, errors, bytes and time.

    --plot draws the latest 30 runs, one plot for each number.

    \b
    Examples:
      ultracrawl stats handbook
      ultracrawl stats handbook --json --plot handbook.svg
    """  # noqa: D301 - click's mark for a block that keeps its lines
    (chosen,) = known_sources(project, [source])
    with state_to_read(project, chosen.name) as state:
        runs = run_numbers(state.runs(limit)) if state is not None else ()
    if plot is not None:
        with convert_write_errors(plot):
            plot.write_text(plots_file(chosen.name, plots(runs[::-1])), encoding="utf-8")
    if as_json:
        print_json({"source": chosen.name, "runs": [run.as_json() for run in runs]})
        return
    print_line(f"{chosen.name}: {len(runs)} runs" if runs else f"{chosen.name}: never crawled")
    for run in runs:
        print_line(_line(run))


def _line(run: RunNumbers) -> str:
    """Return the numbers of a run in one line."""
    changes = f"{run.new:,} new, {run.modified:,} modified, {run.deleted:,} deleted"
    size = f"{run.bytes / 1e6:,.1f} MB, {run.seconds:,.0f} s"
    numbers = run.problem or f"{run.fetched:,} fetched, {changes}, {run.errors:,} errors, {size}"
    return f"  {run.run}  {iso(run.began)}  {run.end}: {numbers}"
