"""`ultracrawl status`: shows the contents and the last run of each source."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from typing import Any

import click

from ultracrawl.cli.manage.feeding import destination_line
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import (
    SOURCE_NAME,
    first_and_count,
    json_option,
    known_sources,
    print_all,
    print_json,
    readable_project_option,
    server_option,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.index.project_index import count_documents
from ultracrawl.model.dates import as_text
from ultracrawl.run.inspection.site_view import SiteView, view_site
from ultracrawl.run.source_data.left_over import left_over_sources
from ultracrawl.service.control import readable_status
from ultracrawl.service.schedules.schedule_status import DueBy
from ultracrawl.service.source_status import reading_status, status_json
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores.project_stores import open_sites, state_to_read
from ultracrawl.system.nouns import counted
from ultracrawl.system.process_name import is_here, process_name


@click.command("status")
@server_option("status")
@readable_project_option
@click.argument("site", type=SOURCE_NAME, required=False, metavar="[SOURCE|SITE]")
@json_option
def command(project: Project, site: str | None, as_json: bool) -> None:
    """Show, for each source, how many URLs are known, waiting and indexed, and the last run.

    A source that is being crawled is running, pausing, paused, stopping or finishing; else it is waiting (for a slot,
    as others are being crawled), idle, indexing pending (documents wait for `ultracrawl approve`), unfinished (the
    next crawl resumes its run), failed (the last crawl could not begin or go on; its reason is shown), unreadable (its
    state is damaged) or never crawled (nothing is known of its URLs).

    With a SOURCE: of this source alone. With a SITE (a host, with its port if that is not the usual one): when the next
    request is due and why not earlier, its delay, errors and robots.txt.

    \b
    Examples:
      ultracrawl status --json
      ultracrawl status handbook
      ultracrawl status www.example.com
    """  # noqa: D301 - click's mark for a block that keeps its lines
    named = [site] if site in project.known_sources else []
    if site and not named:
        show_site(project, site, as_json)
        return
    with reading_status(project) as status_of:
        rows = [_counted(project, status_of(source)) for source in known_sources(project, named)]
    left_over = [] if named else left_over_sources(project)
    if as_json:
        print_json(
            {
                "sources": [status_json(row) for row in rows],
                "left_over": [source.as_json() for source in left_over],
            }
        )
    else:
        print_rows(rows)
        for source in left_over:
            print_line(f"left over: {source.source}: {source.problem}; {source.instead}")
    raise SystemExit(exit_code(rows))


def _counted(project: Project, row: dict[str, Any]) -> dict[str, Any]:
    """Return the status of a source; one that knows no URL, as a robot that was cleared, may have documents."""
    if row["known"] or row["state"] == "unreadable":
        return row
    return {**row, "indexed": count_documents(project, row["source"])}


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print the status of sources as text."""
    for row in rows:
        _print_status(row)


def exit_code(rows: list[dict[str, Any]]) -> int:
    """Return the exit code: 1 if a state is damaged."""
    return 1 if any(row["state"] == "unreadable" for row in rows) else 0


def _print_status(row: dict[str, Any]) -> None:
    click.echo(
        f"{row['source']}: {row['state']}; {counted(row['known'], 'URL')} known, {row['indexed']:,} indexed",
        nl=False,
    )
    click.echo(f", {row['queued']:,} waiting" if row["queued"] else "")
    if row["pending"]:
        click.echo(
            f"  {counted(row['pending'], 'document')} waiting for `ultracrawl approve {row['source']}`"
        )
    if row["leaving"]:
        verb = f"`ultracrawl approve-deletions {row['source']}`"
        click.echo(f"  {counted(row['leaving'], 'document')} to be deleted from the index: {verb}")
    if row["held_back"]:
        verb = f"`ultracrawl approve-changes {row['source']}`"
        click.echo(f"  {counted(row['held_back'], 'document')} with a new version that is held back: {verb}")
    for destination in row["feeding"]:
        click.echo(destination_line(destination))
    for trap in row["traps"]:
        if trap.bounded:
            print_line(f"  {trap}")
    _print_last_run(row)
    _print_waits(row)
    if row.get("profile"):
        click.echo(
            f"  crawled on another machine (profile {row['profile']}): only the ends of its crawls are known here"
        )
    _print_due(row)
    if row["failure"]:
        at = row["failure"]["time"]
        print_line(f"  the last crawl failed{f', {at}' if at else ''}: {row['failure']['problem']}")
    if row["mistakes"]:
        print_line(f"  cannot be crawled: {first_and_count(row['mistakes'])}")
    for outcome, number in row["outcomes"].items():
        click.echo(f"  {number:>9,}  {outcome}")


def _print_last_run(row: dict[str, Any]) -> None:
    """Print when the last run ended, with its problems, or that it did not end."""
    last = row["last_run"]
    if last and last.get("finished"):
        click.echo(
            f"  last run {last['run_id']}: {last['finished']}, {last['seconds']:.1f} s, {last['fetched']:,} fetched"
        )
        if limit := last.get("ended_by") or last.get("left_out_by"):
            print_line(f"  limit reached: {limit}")
        for problem in last["problems"]:
            print_line(f"  last run {last['run_id']} failed: {problem}")
    elif row["state"] == "unfinished":
        click.echo("  the last run did not end (it was stopped or killed); the next crawl resumes it")


def _print_waits(row: dict[str, Any]) -> None:
    """Print what a crawl waits for: a slot, or a site."""
    if row["state"] == "waiting":
        click.echo("  waits for a slot: other sources are being crawled")
    if wait := row["waits_for"]:
        print_line(f"  waits for {wait['site']} until {wait['until']}: {wait['why']}")


def _print_due(row: dict[str, Any]) -> None:
    """Print who crawls a source, and when it is due, or why it is not."""
    if not is_here(row["machine"] or ""):
        print_line(f"  crawled by the {process_name(row['pid'], row['machine'])}")
    if row.get("lease_ends"):
        print_line(f"  kept by another machine: if that has died, until {row['lease_ends']}")
    if row.get("node"):
        print_line(f"  crawled by the node {row['node']} only")
    if row["next_run"]:
        schedule = f" by the schedule {row['schedule']}" if row["schedule"] else ""
        unkept = ", if `serve` or `crawl --continuous` runs then; neither runs now"
        if row["due_by"] == DueBy.DEFAULT:
            schedule, unkept = " by the default interval", ", if `serve` runs then; it does not run now"
        nodes = row.get("nodes")
        if nodes is not None:
            unkept = f"; {what_to_start(row['node'])}"
        by = f", on {' or '.join(nodes)}" if nodes else ""
        when = row["next_run"] if row["next_run"] > as_text(time.time()) else "is due"
        print_line(f"  next run {when}{schedule}{by if row.get('kept') else unkept}")
    if row["never_due"]:
        print_line(f"  not due: {row['never_due']}")


def what_to_start(node: str | None) -> str:
    """Return what to do if no living node takes what is due; `node` is the one that alone may."""
    if node:
        what = f"the node {node} takes nothing now; `ultracrawl node run --name {node}` starts it"
    else:
        what = "no node takes it now; `ultracrawl node run --name NAME` starts one"
    return f"{what}, `ultracrawl node list` shows all"


def show_site(project: Project, name: str, as_json: bool) -> None:
    """Print the status of a site in every source. Raises `UserError` if no source knows it."""
    now = time.time()
    views = [view for source in known_sources(project, []) if (view := _view(project, source, name, now))]
    if not views:
        raise Mistake.NO_SUCH_SITE.error(name=name, known=sorted(project.known_sources)[:20])
    print_all("sites", views, _print, as_json=as_json)


def _view(project: Project, source: DataSource, name: str, now: float) -> SiteView | None:
    with state_to_read(project, source.name) as state, closing(open_sites(project, read_only=True)) as sites:
        if state is None:
            return None
        rules = compile_source(source, project)
        rules = replace(rules, pace=rules.pace.with_wall_clock(lambda at: at))
        status = readable_status(project, source.name)
        return view_site(state, sites, rules, name.lower(), now, status.phase if status else None)


def _print(view: SiteView) -> None:
    click.echo(f"{view.row.site} ({view.source}): {_next(view)}")
    click.echo(f"  delay     {view.delay}")
    waiting = ", ".join(f"{number:,} on level {level}" for level, number in sorted(view.queued.items()))
    click.echo(f"  waiting   {waiting or 'nothing'}")
    print_line(f"  robots    {view.row.robots or 'not known'}")
    if view.row.stand_in:
        click.echo(f"  mirror    {view.row.stand_in}, because the site itself was given up in this run")
    if view.holder is not None:
        then = f"; {', '.join(view.holder.waiting)} waits for it" if view.holder.waiting else ""
        click.echo(f"  leased by the crawl of {view.holder.source} ({view.holder.process}){then}")
    if view.clock.errors or view.clock.last_error:
        print_line(f"  errors    {view.clock.errors}, the last: {view.clock.last_error}")


def _next(view: SiteView) -> str:
    if view.next_at is None:
        return view.waits
    if view.waits_for_another:
        return f"it waits: {view.waits}"
    seconds = view.next_at - view.now
    if seconds <= 0:
        return "may be requested now" if view.phase else "the next crawl requests it"
    return f"next request in {seconds:,.1f} s; it waits for: {view.waits}"
