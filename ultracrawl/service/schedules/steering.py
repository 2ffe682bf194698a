"""Orders for schedules: those of other processes are taken here, and given here."""

from __future__ import annotations

import logging
import time
from contextlib import closing, suppress

from ultracrawl.errors import StateError, UltracrawlError, UserError, WorkError
from ultracrawl.rules.schedules.status import ScheduleEvent, next_status
from ultracrawl.service.control import POLL_INTERVAL, SteerResult, running_crawl, steer
from ultracrawl.service.orders import Clock, CrawlHandle, CrawlOrder, WallClock
from ultracrawl.service.schedules.looking import runner_of, schedule_states
from ultracrawl.service.schedules.plans import plans_of
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command
from ultracrawl.stores.opening import open_schedules
from ultracrawl.stores.port.schedule_store import ScheduleCommand, ScheduleOrder, ScheduleStore

logger = logging.getLogger(__name__)

ORDERS_EVERY = 1.0
"""Seconds between two looks for orders of other processes."""
_LONGEST_ORDER = 600.0
"""Seconds after which nobody expects any more that an order is carried out which nothing has taken."""


def obey(runner: ScheduleRunner, order: ScheduleOrder) -> None:
    """Carry out an order. Raises `UserError`, `WorkError`."""
    if order.of_source:
        {
            ScheduleCommand.PAUSE: runner.pause_source,
            ScheduleCommand.RESUME: runner.resume_source,
            ScheduleCommand.STOP: runner.stop_source,
        }[order.command](order.name)
        return
    schedule = runner.find_schedule(order.name)
    {
        ScheduleCommand.LAUNCH: schedule.launch_by_hand,
        ScheduleCommand.STOP: schedule.stop_by_hand,
        ScheduleCommand.RESUME: schedule.resume_by_hand,
        ScheduleCommand.ENABLE: schedule.enable,
        ScheduleCommand.DISABLE: schedule.disable,
    }[order.command]()


async def hear_orders(runner: ScheduleRunner, store: ScheduleStore, clock: Clock) -> None:
    """Carry out what other processes want, as long as it is awaited."""
    while True:
        await clock.sleep(ORDERS_EVERY)
        with suppress(StateError):
            since = clock.now() - _LONGEST_ORDER
            for order in store.take_orders(runner.schedules, runner.sources, since=since):
                try:
                    obey(runner, order)
                except UltracrawlError as error:
                    logger.warning("%s", error)


def order_schedule(project: Project, name: str, command: ScheduleCommand, *, timeout: float) -> bool:
    """Enable, disable, stop or resume a schedule, whether something keeps it or not; or launch one that is kept.

    Returns False if who keeps it has not taken the order in time. Raises `UserError`, `WorkError` if it cannot be.
    """
    order = ScheduleOrder(name, command)
    _check_possible(project, order)
    if runner_of(project, name) is not None:
        return _leave_order(project, order, timeout)
    plans = [plan for plan in plans_of(project) if plan.key == name]
    with closing(open_schedules(project, renew=True)) as store:
        obey(ScheduleRunner(plans, _NoLauncher(), store, WallClock()), order)
    return True


def steer_source(project: Project, source: str, command: Command, *, timeout: float) -> SteerResult:
    """Give an order to the crawl of a source, or to who keeps the source if it is not being crawled.

    Raises `UserError` if neither is there.
    """
    kept = _OF_SOURCES.get(command)
    if kept is None or running_crawl(project, source) is not None:
        return steer(project, source, command, timeout=timeout)
    if runner_of(project, source, of_source=True) is None:
        return steer(project, source, command, timeout=timeout)
    taken = _leave_order(project, ScheduleOrder(source, kept, of_source=True), timeout)
    note = _NOTES[command] if taken or not timeout else f"has not done it within {timeout:g} s"
    return SteerResult(source, command, taken or not timeout, "idle", note, waited=bool(timeout))


_OF_SOURCES = {
    Command.PAUSE: ScheduleCommand.PAUSE,
    Command.RESUME: ScheduleCommand.RESUME,
    Command.STOP: ScheduleCommand.STOP,
}
_NOTES = {
    Command.PAUSE: "paused; it is not begun until it is resumed",
    Command.RESUME: "goes on; it is begun when it is due",
    Command.STOP: "stopped; it is not begun until it is resumed",
}


class _NoLauncher:
    """Stands where nothing is launched."""

    async def launch(self, order: CrawlOrder) -> CrawlHandle:
        """Never called: no loop runs."""
        raise WorkError(f"nothing can crawl {order.source!r} here")


def _leave_order(project: Project, order: ScheduleOrder, timeout: float) -> bool:
    """Leave an order, and wait until it is taken; returns whether it was."""
    with closing(open_schedules(project)) as store:
        store.leave_order(order, time.time())
        deadline = time.monotonic() + timeout
        while store.has_order(order):
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_INTERVAL)
    return True


def _check_possible(project: Project, order: ScheduleOrder) -> None:
    """Raise `UserError` for a schedule that does not exist, or that cannot do now what is wanted."""
    if order.name not in project.schedules:
        known = ", ".join(sorted(project.schedules)) or "none"
        raise UserError(f"no schedule is named {order.name!r}; the schedules are: {known}")
    state = next((one for one in schedule_states(project) if one.name == order.name), None)
    if state is None:
        raise UserError(f"the schedule {order.name!r} has no source whose definition is without mistakes")
    by_definition = not project.schedules[order.name].enabled
    if by_definition and order.command is not ScheduleCommand.ENABLE:
        return
    if next_status(state.status, _EVENTS[order.command]) is None:
        raise UserError(
            f"the schedule {order.name!r} is {state.status}: `{order.command}` does not go with it"
        )


_EVENTS = {
    ScheduleCommand.LAUNCH: ScheduleEvent.LAUNCHED,
    ScheduleCommand.STOP: ScheduleEvent.STOPPED,
    ScheduleCommand.RESUME: ScheduleEvent.RESUMED,
    ScheduleCommand.ENABLE: ScheduleEvent.ENABLED,
    ScheduleCommand.DISABLE: ScheduleEvent.DISABLED,
}
