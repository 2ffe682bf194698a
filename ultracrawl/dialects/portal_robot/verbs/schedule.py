"""`ultracrawl robot schedule`: start and stop times of a robot."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import click

from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.options import json_option, print_json
from ultracrawl.dialects.portal_robot.schedule_file import SCHEDULE_FILE, read_schedule, schedule_line
from ultracrawl.dialects.portal_robot.service.control import (
    RobotState,
    order_robot,
    robot_state,
    start_in_background,
)
from ultracrawl.dialects.portal_robot.service.schedule import keep_schedule
from ultracrawl.dialects.portal_robot.timetable import (
    Action,
    Appointment,
    ScheduleError,
    next_appointment,
    parse_days,
    parse_time,
)
from ultracrawl.dialects.portal_robot.verbs.control import START_TIMEOUT, robot_location, robot_source
from ultracrawl.dialects.portal_robot.verbs.files import config_option, rules_path, steered_robot
from ultracrawl.errors import UserError
from ultracrawl.model.finding import refuse_fatal
from ultracrawl.sources.filter_files.file_text import read_file
from ultracrawl.stores.control_channel import Command
from ultracrawl.system.files import convert_write_errors

STOP_TIMEOUT = 600.0


@click.group("schedule", cls=VerbGroup, short_help="Start and stop the robot at given times.")
def schedule() -> None:
    """Start and stop times of a robot, in the schedule.conf beside its robot.conf.

    Times are local. `run` starts and stops the robot at these times while it is running. Missed times are not made up
    for.

    \b
    Examples:
      ultracrawl robot schedule add --start "10:00 pm" --days Fri,Sat --stop "6:00 am" --stop-days Sat,Sun
      ultracrawl robot schedule run -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines; a noun, as `robot sites` would be


@schedule.command("list")
@config_option
@json_option
def list_times(config: str | None, as_json: bool) -> None:
    """List the times and the next one.

    \b
    Example:
      ultracrawl robot schedule list -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    times = _times(_path(config))
    for time in times:
        if as_json:
            print_json({"action": time.action.value, "time": str(time)})
        else:
            click.echo(f"{time.action.value:<5}  {time}")
    following = next_appointment(times, datetime.now())
    if following is not None and not as_json:
        click.echo(f"next: {following[1].action} at {following[0]:%Y-%m-%d %H:%M}")


@schedule.command("add")
@click.option("--start", required=True, metavar="TIME", help="Start time, as `10:30 pm`.")
@click.option("--days", required=True, metavar="DAYS", help="Its days, as `Fri,Sat`.")
@click.option("--stop", metavar="TIME", help="Stop time.")
@click.option("--stop-days", metavar="DAYS", help="Its days. Default: those of the start.")
@config_option
def add(start: str, days: str, stop: str | None, stop_days: str | None, config: str | None) -> None:
    """Add a start time with its days, and a stop time if one is given.

    \b
    Example:
      ultracrawl robot schedule add --start "10:30 pm" --days Fri,Sat
    """  # noqa: D301 - click's mark for a block that keeps its lines
    path = _path(config)
    _times(path)
    if stop_days and not stop:
        raise UserError("--stop-days are the days of a stop time; write it with --stop")
    try:
        added = [Appointment(Action.START, *parse_time(start), parse_days(days))]
        if stop is not None:
            added.append(Appointment(Action.STOP, *parse_time(stop), parse_days(stop_days or days)))
    except ScheduleError as error:
        raise UserError(str(error)) from error
    _append(path, added)
    for appointment in added:
        click.echo(f"{appointment.action.value:<5}  {appointment}")


@schedule.command("run")
@click.option("--source", "name", metavar="NAME", help="The source, if there are several with filters.")
@config_option
def run(name: str | None, config: str | None) -> None:
    """Keep running, and start and stop the robot at its times. The schedule is read again when it changes.

    \b
    Example:
      ultracrawl robot schedule run -c config/robot.conf
    """  # noqa: D301 - click's mark for a block that keeps its lines
    path = _path(config)
    if not _times(path):
        raise UserError(f"{path} has no times; `ultracrawl robot schedule add` writes them")
    project, robot = steered_robot(config, name)

    def act(action: Action) -> None:
        if action is Action.STOP:
            order_robot(project, robot, Command.STOP, timeout=STOP_TIMEOUT)
            return
        robot_source(config, name)  # raises, and nothing is started, if there are no sites by now
        if robot_state(project, robot) is RobotState.IDLE:
            order_robot(project, robot, Command.RESTART, timeout=START_TIMEOUT)
            return
        words = ["robot", "start", "-c", robot_location(config), "--source", robot]
        start_in_background(words, project, robot, timeout=START_TIMEOUT)

    keep_schedule(lambda: _times(path), lambda: robot_state(project, robot), act, click.echo)


def _append(path: Path, added: Iterable[Appointment]) -> None:
    """Append times to the file, one a line. Raises `WorkError`."""
    lines = "".join(map(schedule_line, added))
    with convert_write_errors(path):
        if not path.exists():
            path.write_text(lines, encoding="utf-8")
            return
        file = read_file(path)
        end = "" if file.text.endswith("\n") or not file.text else "\n"
        file.replace(f"{file.text}{end}{lines}")


def _path(config: str | None) -> Path:
    return rules_path(config).with_name(SCHEDULE_FILE)


def _times(path: Path) -> list[Appointment]:
    """Return the times in a schedule file, none if it does not exist. Raises `DefinitionError`, `UserError`."""
    try:
        times, read = read_schedule(read_file(path).text, str(path))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    refuse_fatal(read.findings)
    return times
