"""`ultracrawl feeding`: pauses and resumes what a source sends to its indexes."""

from __future__ import annotations

import click

from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.options import (
    SOURCE_NAME,
    json_option,
    known_sources,
    print_all,
    print_json,
    readable_project_option,
)
from ultracrawl.service.destinations import DestinationStatus, destination_status, order_pause
from ultracrawl.sources import Project


@click.group("feeding", cls=VerbGroup)
def command() -> None:
    """Pause and resume what a source sends to its indexes.

    Crawling continues meanwhile. Changes for a paused index wait in the document cache on disk, in order. Pauses work
    whatever mistakes the definition has.

    \b
    Examples:
      ultracrawl feeding pause handbook archive
      ultracrawl feeding status
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("pause")
@click.argument("source", type=SOURCE_NAME)
@click.argument("destination", default="")
@readable_project_option
@json_option
def pause(source: str, destination: str, project: Project, as_json: bool) -> None:
    """Pause one DESTINATION of SOURCE, or all of them.

    \b
    Example:
      ultracrawl feeding pause handbook archive
    """  # noqa: D301 - as above
    _order(project, source, destination, as_json, paused=True)


@command.command("resume", short_help="Resume one destination of a source, or all of them.")
@click.argument("source", type=SOURCE_NAME)
@click.argument("destination", default="")
@readable_project_option
@json_option
def resume(source: str, destination: str, project: Project, as_json: bool) -> None:
    """Resume one DESTINATION of SOURCE, or all that are not paused themselves.

    \b
    Example:
      ultracrawl feeding resume handbook archive
    """  # noqa: D301 - as above
    _order(project, source, destination, as_json, paused=False)


@command.command("status", short_help="Show the destinations of sources, and what waits for each.")
@click.argument("sources", type=SOURCE_NAME, nargs=-1)
@readable_project_option
@json_option
def status(sources: tuple[str, ...], project: Project, as_json: bool) -> None:
    """Show the destinations of SOURCES (all if none is named), and what waits for each.

    \b
    Example:
      ultracrawl feeding status --json
    """  # noqa: D301 - as above
    rows = [row for source in known_sources(project, sources) for row in destination_status(project, source)]
    print_all("destinations", rows, lambda row: click.echo(destination_line(row)), as_json=as_json)


def _order(project: Project, name: str, destination: str, as_json: bool, *, paused: bool) -> None:
    (source,) = known_sources(project, [name])
    note = order_pause(project, source, destination, paused=paused)
    rows = destination_status(project, source)
    if as_json:
        print_json({"note": note, "destinations": [row.as_json() for row in rows]})
        return
    click.echo(f"{source.name}: {note}")
    for row in rows:
        click.echo(destination_line(row))


def destination_line(row: DestinationStatus) -> str:
    """Return a line about one destination."""
    name = f"{row.source} -> {row.destination or row.index}"
    if row.destination and row.destination != row.index:
        name += f" (index {row.index})"
    if not row.fed:
        remaining = f"; {row.segments} waiting batches are left" if row.segments else ""
        return f"  {name}: removed from the definition; its documents are kept{remaining}"
    parts = ["primary"] if row.primary and row.destination else []
    parts.append("paused" if row.paused else "fed")
    if row.segments:
        waiting = "1 batch waits" if row.segments == 1 else f"{row.segments} batches wait"
        parts.append(f"{waiting} ({row.bytes / 1e6:,.1f} MB)")
    if row.problem:
        parts.append(f"the last try failed: {row.problem}")
    return f"  {name}: {', '.join(parts)}"
