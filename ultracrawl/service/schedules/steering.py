"""Orders for schedules: those of other processes are taken here, and given here."""

from __future__ import annotations

import logging
import time
from contextlib import closing, suppress

from ultracrawl.errors import StateError, UltracrawlError, UserError
from ultracrawl.service.orders import Clock
from ultracrawl.service.schedules.looking import runner_of
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.sources import Project
from ultracrawl.stores.opening import open_schedules
from ultracrawl.stores.port.schedule_store import ScheduleCommand, ScheduleOrder, ScheduleStore

logger = logging.getLogger(__name__)

ORDERS_EVERY = 1.0
"""Seconds between two looks for orders of other processes."""


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
            for order in store.take_orders(runner.schedules, runner.sources):
                try:
                    obey(runner, order)
                except UltracrawlError as error:
                    logger.warning("%s", error)


def leave_order(project: Project, order: ScheduleOrder) -> bool:
    """Leave an order for the process that keeps what it names; False if none does. Raises `StateError`."""
    if runner_of(project, order.name, of_source=order.of_source) is None:
        return False
    with closing(open_schedules(project)) as store:
        store.leave_order(order, time.time())
    return True


def check_schedule(project: Project, name: str) -> None:
    """Raise `UserError` for a schedule that the project does not have."""
    if name not in project.schedules:
        known = ", ".join(sorted(project.schedules)) or "none"
        raise UserError(f"no schedule is named {name!r}; the schedules are: {known}")
