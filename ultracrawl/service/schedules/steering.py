"""Orders for schedules between processes: sending them, and obeying those of others."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress

from ultracrawl.errors import StateError, UltracrawlError, UserError, WorkError
from ultracrawl.rules.schedules.status import BUSY, ScheduleEvent, next_status
from ultracrawl.service.control import POLL_INTERVAL, SteerResult, running_crawl_status, steer
from ultracrawl.service.orders import Clock, CrawlHandle, CrawlOrder, WallClock
from ultracrawl.service.schedules.plans import plans_of
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.service.schedules.schedule_status import runner_of, schedule_states, takes_orders
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command
from ultracrawl.stores.port.schedule_store import ScheduleCommand, ScheduleOrder, ScheduleStore
from ultracrawl.stores.project_stores import open_schedules, state_exists

logger = logging.getLogger(__name__)

ORDERS_INTERVAL = 1.0
"""Seconds between two checks for orders of other processes."""
_ORDER_LIFETIME = 600.0
"""Seconds after which an order that no process has taken expires."""


SourceCommands = Mapping[ScheduleCommand, Callable[[str], None]]
"""Functions that carry out orders for sources instead of those of the runner."""


def obey(runner: ScheduleRunner, order: ScheduleOrder, own: SourceCommands | None = None) -> None:
    """Carry out an order. Raises `UserError`, `WorkError`."""
    if order.of_source:
        commands = {
            ScheduleCommand.PAUSE: runner.pause_source,
            ScheduleCommand.RESUME: runner.resume_source,
            ScheduleCommand.STOP: runner.stop_source,
            **(own or {}),
        }
        commands[order.command](order.name)
        return
    schedule = runner.find_schedule(order.name)
    {
        ScheduleCommand.LAUNCH: schedule.launch_by_hand,
        ScheduleCommand.STOP: schedule.stop_by_hand,
        ScheduleCommand.RESUME: schedule.resume_by_hand,
        ScheduleCommand.ENABLE: schedule.enable,
        ScheduleCommand.DISABLE: schedule.disable,
    }[order.command]()


async def obey_orders(
    runner: ScheduleRunner, store: ScheduleStore, clock: Clock, own: SourceCommands
) -> None:
    """Carry out orders of other processes until cancelled."""
    while True:
        await clock.sleep(ORDERS_INTERVAL)
        with suppress(StateError):
            since = clock.now() - _ORDER_LIFETIME
            for order in store.take_orders(runner.schedules, runner.sources, since=since):
                try:
                    obey(runner, order, own)
                except UltracrawlError as error:
                    logger.warning("%s", error)


def order_schedule(project: Project, name: str, command: ScheduleCommand, *, timeout: float) -> bool:
    """Enable, disable, stop or resume a schedule, with or without a runner; launch one that has a runner.

    Returns False if the runner has not taken the order in time. Raises `UserError`, `WorkError` if it is impossible.
    """
    order = ScheduleOrder(name, command)
    _check_possible(project, order)
    if takes_orders(project, name):
        return _leave_order(project, order, timeout)
    plans = [plan for plan in plans_of(project) if plan.key == name]
    with closing(open_schedules(project, renew=True)) as store:
        obey(ScheduleRunner(plans, _NoLauncher(), store, WallClock()), order)
    return True


def is_steerable(project: Project, source: str) -> bool:
    """Return whether a source can get orders, defined or not: it was crawled, or a service crawls it."""
    return state_exists(project, source) or runner_of(project, source, of_source=True) is not None


def steer_source(project: Project, source: str, command: Command, *, timeout: float) -> SteerResult:
    """Send a command to the crawl of a source, or to its runner if it is not being crawled.

    Raises `UserError` if there is neither.
    """
    runner_command = _OF_SOURCES.get(command)
    if runner_command is None or running_crawl_status(project, source) is not None:
        return steer(project, source, command, timeout=timeout)
    if not takes_orders(project, source, of_source=True):
        return steer(project, source, command, timeout=timeout)
    taken = _leave_order(project, ScheduleOrder(source, runner_command, of_source=True), timeout)
    note = (
        _NOTES[command] if taken or not timeout else f"{command.value} not carried out within {timeout:g} s"
    )
    return SteerResult(source, command, taken or not timeout, "idle", note, waited=bool(timeout))


_OF_SOURCES = {
    Command.PAUSE: ScheduleCommand.PAUSE,
    Command.RESUME: ScheduleCommand.RESUME,
    Command.STOP: ScheduleCommand.STOP,
}
_NOTES = {
    Command.PAUSE: "paused; it is not crawled until it is resumed",
    Command.RESUME: "resumed; it is crawled when it is due",
    Command.STOP: "stopped; it is not crawled until it is resumed",
}


class _NoLauncher:
    """The launcher of a runner whose loop does not run."""

    async def launch(self, order: CrawlOrder) -> CrawlHandle:
        """Raise `WorkError`; never called."""
        raise WorkError(f"nothing can crawl {order.source!r} here")


def _leave_order(project: Project, order: ScheduleOrder, timeout: float) -> bool:
    """Store an order and wait until a runner takes it; returns whether one did."""
    with closing(open_schedules(project)) as store:
        store.leave_order(order, time.time())
        deadline = time.monotonic() + timeout
        while store.has_order(order):
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_INTERVAL)
    return True


def _check_possible(project: Project, order: ScheduleOrder) -> None:
    """Raise `UserError` if the schedule does not exist, or its status does not allow the order."""
    if order.name not in project.schedules:
        if runner_of(project, order.name) is not None:
            return  # which checks it
        known = ", ".join(sorted(project.schedules)) or "none"
        raise UserError(f"no schedule is named {order.name!r}; the schedules are: {known}")
    state = next((state for state in schedule_states(project) if state.name == order.name), None)
    if state is None:
        raise UserError(f"the schedule {order.name!r} has no source whose definition is without mistakes")
    by_definition = not project.schedules[order.name].enabled
    if by_definition and order.command is not ScheduleCommand.ENABLE:
        return
    launches_others = order.command is ScheduleCommand.LAUNCH and state.status in BUSY
    if launches_others and not set(state.sources) <= set(state.left):
        return
    if next_status(state.status, _EVENTS[order.command]) is None:
        raise UserError(
            f"the schedule {order.name!r} is {state.status}: `{order.command}` is not possible now"
        )


_EVENTS = {
    ScheduleCommand.LAUNCH: ScheduleEvent.LAUNCHED,
    ScheduleCommand.STOP: ScheduleEvent.STOPPED,
    ScheduleCommand.RESUME: ScheduleEvent.RESUMED,
    ScheduleCommand.ENABLE: ScheduleEvent.ENABLED,
    ScheduleCommand.DISABLE: ScheduleEvent.DISABLED,
}
