"""`ultracrawl status`: what each source holds, and how its last run went."""

from __future__ import annotations

import json
from typing import Any

import click

from ultracrawl.backends import open_state, state_exists
from ultracrawl.cli.options import chosen_sources, config_option, json_option, open_project, print_json
from ultracrawl.cli.site_status import show_site
from ultracrawl.sources import Project


@click.command("status")
@config_option
@click.argument("site", required=False)
@json_option
def command(config: str | None, site: str | None, as_json: bool) -> None:
    """Show, for each source, how many URLs are known, waiting and indexed, and the last run.

    With a SITE (a host, with its port if that is not the usual one): when it is asked next and why not earlier, its
    delay, errors and robots.txt.

    \b
    Examples:
      ultracrawl status --json
      ultracrawl status www.example.com
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    if site:
        show_site(project, site, as_json)
        return
    rows = [_status(project, source.name) for source in chosen_sources(project, [])]
    if as_json:
        print_json({"sources": rows})
        return
    for row in rows:
        _print_status(row)


def _status(project: Project, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "source": name,
        "known": 0,
        "queued": 0,
        "indexed": 0,
        "outcomes": {},
        "last_run": None,
    }
    if not state_exists(project, name):
        return {**row, "state": "never crawled"}
    state = open_state(project, name, read_only=True)
    counts, runs = state.counts(), state.runs(1)
    state.close()
    row.update(known=counts.known, queued=counts.queued, indexed=counts.indexed)
    row["outcomes"] = {outcome.value: number for outcome, number in sorted(counts.outcomes.items())}
    if not runs:
        return {**row, "state": "never crawled"}
    row["last_run"] = json.loads(runs[0].report) if runs[0].report else {"run_id": str(runs[0].number)}
    return {**row, "state": "idle" if runs[0].finished else "unfinished"}


def _print_status(row: dict[str, Any]) -> None:
    click.echo(
        f"{row['source']}: {row['state']}; {row['known']:,} URLs known, {row['indexed']:,} indexed", nl=False
    )
    click.echo(f", {row['queued']:,} waiting" if row["queued"] else "")
    last = row["last_run"]
    if last and last.get("finished"):
        click.echo(
            f"  last run {last['run_id']}: {last['finished']}, {last['seconds']:.1f} s, {last['fetched']:,} fetched"
        )
    elif row["state"] == "unfinished":
        click.echo(
            "  the last run did not end (stopped, killed, or still going on); the next crawl resumes it"
        )
    for outcome, number in row["outcomes"].items():
        click.echo(f"  {number:>9,}  {outcome}")
