"""`ultracrawl robot report`: reports on the URLs and the configuration of a robot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click

from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.options import json_option, print_json
from ultracrawl.cli.terminal import print_line
from ultracrawl.dialects.portal_robot.service.facts import Fact, configuration, versions
from ultracrawl.dialects.portal_robot.service.report import excluded_urls, servers_found, waiting_urls
from ultracrawl.dialects.portal_robot.verbs.control import show_status, steering_verb
from ultracrawl.dialects.portal_robot.verbs.files import config_option
from ultracrawl.errors import UserError
from ultracrawl.sources import Project
from ultracrawl.sources.dialects import locate_definitions


@click.group("report", cls=VerbGroup, short_help="Show reports about the URLs of the robot.")
def report() -> None:
    """Show what became of the robot's URLs, and what the robot is made of.

    `ultracrawl queue` shows in which order and why URLs are due.

    \b
    Example:
      ultracrawl robot report excluded -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines


@report.command("excluded")
@click.option("--reason", help="List the URLs with this reason, one per line.")
@steering_verb
@json_option
def excluded(reason: str | None, project: Project, robot: str, as_json: bool) -> None:
    """Count excluded URLs by reason, and list them.

    \b
    Examples:
      ultracrawl robot report excluded -c config/robot.conf
      ultracrawl robot report excluded --reason "filter rules"
    """  # noqa: D301 - click's mark for a block that keeps its lines
    for group, records in excluded_urls(project, robot).items():
        if reason is not None and group != reason:
            continue
        if as_json:
            urls = [{"url": record.url, "reason": record.reason} for record in records]
            print_json({"reason": group, "count": len(records), "urls": urls})
            continue
        if reason is None:
            print_line(f"{len(records):>9,}  {group}")
        else:
            for record in records:
                print_line(f"{record.url}  ({record.reason})" if record.reason else record.url)


@report.command("servers", short_help="Show all servers that the robot has found.")
@steering_verb
@json_option
def servers(project: Project, robot: str, as_json: bool) -> None:
    """Show all servers that the robot has met: URLs known, waiting, in the index, excluded.

    \b
    Example:
      ultracrawl robot report servers -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    rows = servers_found(project, robot)
    if rows and not as_json:
        click.echo("    known   waiting  in index  excluded  server")
    for row in rows:
        if as_json:
            print_json(asdict(row))
        else:
            numbers = (row.known, row.waiting, row.indexed, row.excluded)
            click.echo(" ".join(f"{number:>9,}" for number in numbers) + f"  {row.site}")


@report.command("waiting")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="Number of URLs shown.")
@steering_verb
@json_option
def waiting(limit: int, project: Project, robot: str, as_json: bool) -> None:
    """Show URLs that wait in the pool, with their depth.

    \b
    Example:
      ultracrawl robot report waiting --limit 20 -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    for url, depth in waiting_urls(project, robot, limit):
        if as_json:
            print_json({"url": url, "depth": depth})
        else:
            click.echo(f"{depth:>5}  {url}")


@report.command("overview", short_help="Show the state and the statistics of the robot.")
@steering_verb
@json_option
def overview(project: Project, robot: str, as_json: bool) -> None:
    """Show state and numbers of the robot, as `ultracrawl robot status` does.

    \b
    Example:
      ultracrawl robot report overview -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    show_status(project, robot, as_json=as_json)


@report.command("version", short_help="Show the versions of program, Python and libraries.")
@steering_verb
@json_option
def version(project: Project, robot: str, as_json: bool) -> None:  # noqa: ARG001 - it has to be a robot
    """Show the versions of the program, of Python and of libraries, and where index and state are.

    \b
    Example:
      ultracrawl robot report version -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    _print_facts(versions(project), as_json=as_json)


@report.command("configuration", short_help="Show every property: its value, and where it is set.")
@config_option
@json_option
def show_configuration(config: str | None, as_json: bool) -> None:
    """Show every property of robot.conf as it takes effect and where it is set, with filters, sites and rules.

    \b
    Example:
      ultracrawl robot report configuration -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    location = locate_definitions(config)
    if location is None:
        raise UserError("there is no robot.conf; name it with -c, or in $ULTRACRAWL_CONFIG")
    _print_facts(configuration(Path(location)), as_json=as_json)


def _print_facts(facts: Iterable[Fact], *, as_json: bool) -> None:
    for fact in facts:
        if as_json:
            print_json(fact._asdict())
        else:
            click.echo(f"{fact.name:<28} {fact.value}{f'  ({fact.given})' if fact.given else ''}")
