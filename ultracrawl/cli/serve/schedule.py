"""`ultracrawl schedule`: shows the schedules of a project and gives them orders."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import cleandoc
from typing import Any, TypeVar

import click

from ultracrawl.cli.crawl.report import print_report
from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.look.status import what_to_start
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import (
    config_option,
    jobs_option,
    json_option,
    open_project,
    open_state_project,
    print_all,
    print_json,
    project_option,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.model import RunReport, ScheduleStatus
from ultracrawl.model.dates import as_text
from ultracrawl.service import supervisor
from ultracrawl.service.orders import ScheduleState
from ultracrawl.service.schedules.schedule_status import (
    history,
    run_as_json,
    runner_of,
    schedule_states,
    state_as_json,
    takes_orders,
)
from ultracrawl.service.schedules.steering import order_schedule
from ultracrawl.service.schedules.takers import taking_nodes
from ultracrawl.sources import Project
from ultracrawl.stores.port.schedule_store import ScheduleCommand, ScheduleRun

F = TypeVar("F", bound=Callable[..., Any])
_FAILED = frozenset({ScheduleStatus.FAILED, ScheduleStatus.PARTIALLY_FAILED})
_SHOWN = 10
"""Number of runs that `show` prints."""


@click.group("schedule", cls=VerbGroup)
def command() -> None:
    """Show schedules; launch, enable, disable, stop and resume them.

    Orders go to the process that runs the schedule (`ultracrawl serve`, `crawl --continuous`). If there is none,
    `launch` crawls itself, and other orders are stored for the next process that runs it.

    \b
    Examples:
      ultracrawl schedule list
      ultracrawl schedule launch nightly
      ultracrawl schedule disable nightly
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("list", short_help="List schedules: status, next and last time.")
@project_option
@json_option
def list_schedules(project: Project, as_json: bool) -> None:
    """List all schedules: status, next launch, last run.

    \b
    Example:
      ultracrawl schedule list --json
    """  # noqa: D301 - as above
    states = schedule_states(project)
    if as_json:
        print_json({"schedules": [state_as_json(state) for state in states]})
        return
    for state in states or ():
        _print_state(project, state)
    if not states:
        print_line("No schedules are defined.")


@command.command("show", short_help="Show one schedule with its latest runs.")
@click.argument("name")
@project_option
@json_option
def show(name: str, project: Project, as_json: bool) -> None:
    """Show one schedule with its latest runs: when, how they ended, and their logs.

    \b
    Example:
      ultracrawl schedule show nightly
    """  # noqa: D301 - as above
    state, runs = _state(project, name), history(project, name, _SHOWN)
    if as_json:
        print_json({**state_as_json(state), "runs": [run_as_json(run) for run in runs]})
        return
    _print_state(project, state)
    for run in runs:
        _print_run(run)


@command.command("launch", short_help="Run a schedule now.")
@click.argument("name")
@jobs_option
@config_option
@json_option
def launch(name: str, jobs: int | None, config: str | None, as_json: bool) -> None:
    """Run a schedule now.

    The process that runs the schedule gets the order; if there is none, this command crawls its sources.

    \b
    Example:
      ultracrawl schedule launch nightly
    """  # noqa: D301 - as above
    steered = _project_to_steer(config, name)
    if takes_orders(steered, name):
        _order(steered, name, ScheduleCommand.LAUNCH, as_json)
    project = open_project(config)
    _state(project, name)

    def print_run(report: RunReport) -> None:
        print_all("runs", [report], print_report, as_json=as_json)
        sys.stdout.flush()

    supervisor.launch_schedule(project, name, supervisor.CrawlOptions(jobs), on_report=print_run)
    status = _state(project, name).status
    raise SystemExit(0 if status in {ScheduleStatus.SCHEDULED, ScheduleStatus.INDEXING_PENDING} else 1)


def _order_verb(described: Callable[[], None]) -> None:
    """Add a verb that gives the order named like the function, with its docstring as help."""
    order = ScheduleCommand(described.__name__.rstrip("_"))
    text = cleandoc(described.__doc__ or "")

    @command.command(order.value, help=text, short_help=text.partition("\n")[0])
    @click.argument("name")
    @config_option
    @json_option
    def verb(name: str, config: str | None, as_json: bool) -> None:
        _order(_project_to_steer(config, name), name, order, as_json)


@_order_verb
def enable() -> None:
    """Launch a schedule at its times again.

    \b
    Example:
      ultracrawl schedule enable nightly
    """  # noqa: D301 - as above


@_order_verb
def disable() -> None:
    """Launch a schedule no more, until it is enabled.

    \b
    Example:
      ultracrawl schedule disable nightly
    """  # noqa: D301 - as above


@_order_verb
def stop() -> None:
    """End the crawls of a schedule, and launch none until `resume`.

    What is in flight is finished and indexed, what waits stays queued.

    \b
    Example:
      ultracrawl schedule stop nightly
    """  # noqa: D301 - as above


@_order_verb
def resume() -> None:
    """Launch a schedule that was stopped at its times again.

    \b
    Example:
      ultracrawl schedule resume nightly
    """  # noqa: D301 - as above


def _project_to_steer(config: str | None, name: str) -> Project:
    """Return the project for an order; mistakes in definitions do not matter to the process that runs the schedule."""
    project = open_state_project(config)
    if name in project.schedules or runner_of(project, name) is not None:
        return project
    return open_project(config)


def _order(project: Project, name: str, order: ScheduleCommand, as_json: bool) -> None:
    before = _state(project, name).last_begin if name in project.schedules else None
    obeyed = order_schedule(project, name, order, timeout=20.0)
    if name not in project.schedules:  # the process that runs it knows it; here the definitions have mistakes
        if as_json:
            print_json({"name": name, "obeyed": obeyed})
        else:
            print_line(f"{name}: {order} {'done' if obeyed else 'requested'}", err=not obeyed)
        raise SystemExit(0 if obeyed else 1)
    state = _state(project, name)
    if as_json:
        print_json({**state_as_json(state), "obeyed": obeyed})
    elif obeyed:
        _print_state(project, state)
    else:
        print_line(f"{name}: {order} requested, but not carried out yet", err=True)
    has_failed = state.status in _FAILED and state.last_begin != before  # not the run before the order
    is_lost = order is ScheduleCommand.LAUNCH and (has_failed or taking_nodes(project, name) == [])
    raise SystemExit(0 if obeyed and not is_lost else 1)


def _state(project: Project, name: str) -> ScheduleState:
    states = {state.name: state for state in schedule_states(project)}
    if name not in states:
        if not states:
            raise Mistake.NO_SCHEDULE.error(name=name)
        raise Mistake.NO_SUCH_NAME.error(what="schedule", name=name, known=states)
    return states[name]


def _print_state(project: Project, state: ScheduleState) -> None:
    due = f"; next {as_text(state.next_run)}" if state.next_run else ""
    print_line(f"{state.name}: {state.status}{due}; {', '.join(state.sources)}")
    if state.last_begin:
        end = (
            f" to {as_text(state.last_end)}" if state.last_end and state.last_end >= state.last_begin else ""
        )
        print_line(f"  last  {as_text(state.last_begin)}{end}")
    if state.left and len(state.sources) > 1:
        print_line(f"  left  {', '.join(state.left)}")
    if state.error:
        print_line(f"  error {state.error}")
    for log in state.log.splitlines():
        print_line(f"  log   {log}")
    if state.next_run and runner_of(project, state.name) is None:
        nodes = taking_nodes(project, state.name)
        if nodes:
            print_line(f"  runs on {' or '.join(nodes)}")
        elif nodes is not None:
            print_line(f"  {what_to_start(state.node)}")
        else:
            print_line("  nothing runs it now; start `ultracrawl serve` or `ultracrawl crawl --continuous`")


def _print_run(run: ScheduleRun) -> None:
    print_line(f"  {as_text(run.begun)} to {as_text(run.ended)}: {run.status}")
    for name, why in run.sources.items():
        print_line(f"    {name}: {why or 'done'}")
