"""`ultracrawl robot report`: what became of a robot's URLs."""

from __future__ import annotations

import click

from ultracrawl.cli.options import json_option, print_json
from ultracrawl.cli.robot_control import robot_options, robot_source
from ultracrawl.jobs.robot_report import excluded_urls, servers_found


@click.group("report")
def report() -> None:
    """Show what became of the robot's URLs: `excluded` by reason, and `servers` with what waits at each.

    `ultracrawl robot status` has the overview, `ultracrawl queue` the URLs that wait.
    """


@report.command("excluded")
@click.option("--reason", help="Only the URLs of this reason, one a line.")
@robot_options
@json_option
def excluded(reason: str | None, config: str | None, name: str | None, as_json: bool) -> None:
    """Show how many URLs were excluded for which reason, and which.

    \b
    Examples:
      ultracrawl robot report excluded -c config/robot.conf
      ultracrawl robot report excluded --reason "filter rules"
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project, source = robot_source(config, name)
    for group, records in excluded_urls(project, source.name).items():
        if reason is not None and group != reason:
            continue
        if as_json:
            urls = [{"url": one.url, "reason": one.reason} for one in records]
            print_json({"reason": group, "count": len(records), "urls": urls})
            continue
        if reason is None:
            click.echo(f"{len(records):>9,}  {group}")
        else:
            for one in records:
                click.echo(f"{one.url}  ({one.reason})" if one.reason else one.url)


@report.command("servers")
@robot_options
@json_option
def servers(config: str | None, name: str | None, as_json: bool) -> None:
    """Show the servers with URLs that wait, and how many wait at each.

    \b
    Example:
      ultracrawl robot report servers -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project, source = robot_source(config, name)
    for site, waiting in servers_found(project, source.name):
        if as_json:
            print_json({"site": site, "waiting": waiting})
        else:
            click.echo(f"{waiting:>9,}  {site}")
