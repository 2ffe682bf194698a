"""`ultracrawl robot start`, `stop`, `pause`, `resume`, `restart`, `status`, `clear`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ultracrawl.cli.crawl.report import print_report
from ultracrawl.cli.crawl.steering import wait_options
from ultracrawl.cli.options import confirm, json_option, open_project, print_json
from ultracrawl.dialects.portal_robot.service.control import (
    clear_robot,
    order_robot,
    require_offered,
    start_in_background,
)
from ultracrawl.dialects.portal_robot.service.report import robot_status, starting_points
from ultracrawl.dialects.portal_robot.service.robot_process import run_robot
from ultracrawl.dialects.portal_robot.verbs.files import filtered_source, steered_robot
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.dialects import locate_definitions
from ultracrawl.stores.control_channel import Command
from ultracrawl.system.nouns import counted
from ultracrawl.system.process_name import is_here

START_TIMEOUT = 60.0
LOADING = frozenset({Command.RESTART, Command.RELOAD})
"""Commands after which the robot reads its files again."""


def robot_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c` and `--source`."""
    function = click.option(
        "--source",
        "name",
        metavar="NAME",
        help="The source, if the definition file has several with filters.",
    )(function)
    return click.option(
        "-c", "--config", metavar="FILE", help="The robot.conf, or another definition file with filters."
    )(function)


def robot_verb(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c` and `--source`; the verb gets the `project` and the `source` of the robot."""

    @wraps(function)
    def with_robot(*, config: str | None, name: str | None, **others: Any) -> None:
        project, source = robot_source(config, name)
        function(project=project, source=source, **others)

    return robot_options(with_robot)


def steering_verb(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c` and `--source`; the verb gets the `project` and the name of the `robot`, with or without mistakes."""

    @wraps(function)
    def with_state(*, config: str | None, name: str | None, **others: Any) -> None:
        project, robot = steered_robot(config, name)
        function(project=project, robot=robot, **others)

    return robot_options(with_state)


def loading_verb(function: Callable[..., None]) -> Callable[..., None]:
    """Like `steering_verb`, for verbs after which the robot reads its files: those must be without mistakes."""

    @wraps(function)
    def with_source(*, project: Project, source: DataSource, **others: Any) -> None:
        function(project=project, robot=source.name, **others)

    return robot_verb(with_source)


def robot_source(config: str | None, name: str | None) -> tuple[Project, DataSource]:
    """Return the project and the source of the robot. Raises `UserError`."""
    project = open_project(config)
    return project, filtered_source(project, name)


@click.command("start", short_help="Start the robot.")
@click.option("--background", is_flag=True, help="Start it as a separate process, and return.")
@click.option("-v", "--verbose", is_flag=True, help="Log what the crawler does to standard error.")
@robot_options
def start(background: bool, verbose: bool, config: str | None, name: str | None) -> None:
    """Start the robot: it makes a run; `onCompletion` in its robot.conf determines what it does afterwards.

    A stopped run is continued. With `onCompletion=idle` the robot stays and waits for `ultracrawl robot stop`
    or `restart`, with `loop` it runs again and again, with `quit` it ends.

    \b
    Examples:
      ultracrawl robot start -c config/robot.conf
      ultracrawl robot start --background
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project, source = robot_source(config, name)
    require_offered(project, source.name, "start")
    click.echo(f"Starting Points: {starting_points(project, source)} defined")
    if background:
        words = ["robot", "start", "-c", robot_location(config), "--source", source.name]
        pid = start_in_background(words, project, source.name, timeout=START_TIMEOUT)
        click.echo(f"{source.name}: started, process {pid}")
        return
    if not verbose:
        logging.getLogger("scrapy").setLevel(logging.ERROR)
    settings = {"LOG_LEVEL": "INFO" if verbose else "ERROR"}
    run_robot(
        project,
        source,
        on_report=print_report,
        reload=lambda: robot_source(config, source.name),
        settings=settings,
    )


def robot_location(config: str | None) -> str:
    """Return the location of the definitions, absolute for a process with another working directory."""
    location = locate_definitions(config)
    assert location is not None, "the project was read from it"
    return str(Path(location).absolute()) if os.path.exists(location) else location


def _order(command: Command, what: str, explained: str) -> click.Command:
    @wait_options
    @(loading_verb if command in LOADING else steering_verb)
    @json_option
    def give(timeout: float, no_wait: bool, project: Project, robot: str, as_json: bool) -> None:
        state = order_robot(project, robot, command, timeout=0.0 if no_wait else timeout)
        if as_json:
            print_json({"source": robot, "command": command.value, "state": state.value})
        else:
            click.echo(f"{robot}: {state}")

    give.__doc__ = (
        f"{what}\n\n{explained}\n\n\b\nExample:\n  ultracrawl robot {command.value} -c config/robot.conf"
    )
    return click.command(command.value)(give)


stop = _order(
    Command.STOP,
    "Stop the robot.",
    "Visits in flight are finished and the state is saved; the next start continues from it.",
)
pause = _order(
    Command.PAUSE, "Pause the robot: it retrieves nothing until `resume`.", "Its process stays alive."
)
resume = _order(Command.RESUME, "Resume a paused robot.", "It returns to the state Running or Idle.")
restart = _order(
    Command.RESTART,
    "End the run of the robot and begin a new one.",
    "The process stays the same, and takes its files as they are now. An unfinished run continues with its queue. If "
    "the files have mistakes, they are shown, and the robot goes on as before.",
)
reload = _order(
    Command.RELOAD,
    "Let the robot take its files as they are now.",
    "A run goes on with its queue, its counts, and the new sites, rules and filters; an Idle robot takes them for "
    "its next run. Setup does not run again. If the files have mistakes, they are shown, and the robot goes on "
    "with the former ones.",
)


@click.command("status", short_help="Show the state and the statistics of the robot.")
@steering_verb
@json_option
def status(project: Project, robot: str, as_json: bool) -> None:
    """Show the state of the robot (Off, Running, Idle or Paused) and its statistics.

    \b
    Example:
      ultracrawl robot status -c config/robot.conf --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    show_status(project, robot, as_json=as_json)


def show_status(project: Project, robot: str, *, as_json: bool) -> None:
    """Print the status of a robot."""
    status = robot_status(project, robot)
    if as_json:
        print_json(status.as_json())
        return
    place = "" if is_here(status.machine) else f" on {status.machine}"
    click.echo(
        f"{status.source}: {status.state}{place}  ({datetime.fromtimestamp(status.refreshed):%Y-%m-%d %H:%M:%S})"
    )
    if status.starting_points is None:
        click.echo("  Starting Points: unknown, the files have mistakes; `ultracrawl lint` shows them")
    else:
        click.echo(f"  Starting Points: {status.starting_points} defined")
    click.echo(f"  {status.known:>9,}  URLs known, {status.waiting:,} waiting, {status.excluded:,} excluded")
    click.echo(f"  {status.indexed:>9,}  descriptions in the index")
    if status.expired:
        click.echo(f"  {status.expired:>9,}  of them have expired; the next run renews or removes them")
    if status.last_run:
        click.echo(
            f"  last run {status.last_run['run_id']}: {status.last_run.get('fetched', 0):,} retrieved, "
            f"{status.pages_per_second:.1f} a second"
        )


@click.command("clear", short_help="Clear the database of the robot.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@steering_verb
def clear(yes: bool, project: Project, robot: str) -> None:
    """Clear the robot's database: everything it knows about URLs. The robot must be Off.

    The next run visits every URL as new. Descriptions stay in the index; one whose page has been deleted stays
    there until the index is rebuilt.

    \b
    Example:
      ultracrawl robot clear --yes -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    require_offered(project, robot, "clear")
    confirm(f"Forget all that is known of the URLs of {robot}?", yes=yes)
    click.echo(f"{robot}: {counted(clear_robot(project, robot), 'URL')} forgotten")
