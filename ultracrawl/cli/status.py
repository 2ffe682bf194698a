"""`ultracrawl status`: what each source holds, and how its last run went."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import click

from ultracrawl.backends import open_state, state_exists
from ultracrawl.cli.feeding import in_words
from ultracrawl.cli.options import chosen_sources, config_option, json_option, open_project, print_json
from ultracrawl.cli.site_status import show_site
from ultracrawl.errors import StateError
from ultracrawl.jobs.control import running_crawl
from ultracrawl.jobs.feeding import DestinationStatus, feeding_status
from ultracrawl.sources import DataSource, Project


@click.command("status")
@config_option
@click.argument("site", required=False)
@json_option
def command(config: str | None, site: str | None, as_json: bool) -> None:
    """Show, for each source, how many URLs are known, waiting and indexed, and the last run.

    A source that is being crawled is running, pausing, paused, stopping or finishing; else it is idle, indexing
    pending (documents wait for `ultracrawl approve`), unfinished (the next crawl resumes its run) or never crawled.

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
    rows = [
        {**_live(project, _status(project, source.name)), "feeding": _feeding(project, source)}
        for source in chosen_sources(project, [])
    ]
    if as_json:
        for row in rows:
            row["feeding"] = [one.as_json() for one in row["feeding"]]
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
        "pending": 0,
        "leaving": 0,
        "outcomes": {},
        "last_run": None,
    }
    if not state_exists(project, name):
        return {**row, "state": "never crawled"}
    state = open_state(project, name, read_only=True)
    counts, runs = state.counts(), state.runs(1)
    state.close()
    row.update(known=counts.known, queued=counts.queued, indexed=counts.indexed, pending=counts.pending)
    row["leaving"] = counts.leaving
    row["outcomes"] = {outcome.value: number for outcome, number in sorted(counts.outcomes.items())}
    if not runs:
        return {**row, "state": "never crawled"}
    row["last_run"] = json.loads(runs[0].report) if runs[0].report else {"run_id": str(runs[0].number)}
    if not runs[0].finished:
        return {**row, "state": "unfinished"}
    return {**row, "state": "indexing pending" if counts.pending else "idle"}


def _feeding(project: Project, source: DataSource) -> list[DestinationStatus]:
    """Return the destinations of a source, if there is anything to be said of them."""
    rows = feeding_status(project, source)
    worth = len(rows) > 1 or any(one.destination or one.paused or one.segments or one.problem for one in rows)
    return rows if worth else []


def _live(project: Project, row: dict[str, Any]) -> dict[str, Any]:
    """Let the state of a source that is being crawled just now be the phase of its crawl."""
    sign = None
    with suppress(StateError):  # the crawl of another user cannot be looked at, its document table can
        sign = running_crawl(project, row["source"])
    return {**row, "state": sign.phase.value, "pid": sign.pid} if sign else {**row, "pid": None}


def _print_status(row: dict[str, Any]) -> None:
    click.echo(
        f"{row['source']}: {row['state']}; {row['known']:,} URLs known, {row['indexed']:,} indexed", nl=False
    )
    click.echo(f", {row['queued']:,} waiting" if row["queued"] else "")
    if row["pending"]:
        click.echo(f"  {row['pending']:,} documents wait for `ultracrawl approve {row['source']}`")
    if row["leaving"]:
        verb = f"`ultracrawl approve-deletions {row['source']}`"
        click.echo(f"  {row['leaving']:,} documents are to leave the index: {verb}")
    last = row["last_run"]
    for one in row["feeding"]:
        click.echo(in_words(one))
    if last and last.get("finished"):
        click.echo(
            f"  last run {last['run_id']}: {last['finished']}, {last['seconds']:.1f} s, {last['fetched']:,} fetched"
        )
    elif row["state"] == "unfinished":
        click.echo("  the last run did not end (it was stopped or killed); the next crawl resumes it")
    for outcome, number in row["outcomes"].items():
        click.echo(f"  {number:>9,}  {outcome}")
