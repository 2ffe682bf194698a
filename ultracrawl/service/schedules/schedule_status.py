"""Reads the states, runs and next due times of schedules, with or without a running runner."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import closing, suppress
from enum import StrEnum
from typing import Any

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import StateError
from ultracrawl.model import ScheduleStatus
from ultracrawl.model.dates import as_text
from ultracrawl.rules.schedules.status import BUSY
from ultracrawl.run.logs.run_log import run_logs
from ultracrawl.service.orders import ScheduleState
from ultracrawl.service.schedules.optimisation import all_plans
from ultracrawl.service.schedules.plan_state import next_launch, schedule_state, still_due
from ultracrawl.service.schedules.plans import LatestRun, Plan, never_due, plans_of
from ultracrawl.service.schedules.takers import Takers
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import crawl_lease_left
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun, ScheduleStore
from ultracrawl.stores.project_stores import (
    has_nodes,
    open_nodes,
    open_schedules,
    service_notes,
    source_notes,
    state_to_read,
)
from ultracrawl.stores.runner_registry import RunnerStatus, active_runners
from ultracrawl.system.process_name import is_here


def runner_of(project: Project, name: str, *, of_source: bool = False) -> RunnerStatus | None:
    """Return the status of the process that runs a schedule or a source; None if none does."""
    runners = active_runners(service_notes(project))
    return next(
        (runner for runner in runners if name in (runner.sources if of_source else runner.schedules)), None
    )


def takes_orders(project: Project, name: str, *, of_source: bool = False) -> bool:
    """Return whether a process takes orders for a schedule or a source: it runs it, or a node will take it for that."""
    if runner_of(project, name, of_source=of_source) is not None:
        return True
    is_planned = any(
        name in plan.sources if of_source else name == plan.name and not plan.own
        for plan in all_plans(project)
    )
    return is_planned and any(runner.node for runner in active_runners(service_notes(project)))


def latest_log(project: Project, source: str) -> str:
    """Return the log file of the latest run of a source; empty if there is none."""
    logs = run_logs(project, source)
    return str(logs[-1]) if logs else ""


def has_pending(project: Project, source: str) -> bool:
    """Return whether documents of a source wait for approval."""
    with suppress(StateError), state_to_read(project, source) as state:
        return state is not None and any(True for _ in state.records.pending_records())
    return False


def schedule_states(project: Project) -> list[ScheduleState]:
    """Return the states of the schedules of a project, in their order. Raises `StateError`."""
    runners = active_runners(service_notes(project))
    with closing(open_schedules(project, read_only=True)) as store:
        return [_state(project, plan, store, runners) for plan in all_plans(project) if not plan.own]


def _state(
    project: Project, plan: Plan, store: ScheduleStore, runners: Collection[RunnerStatus]
) -> ScheduleState:
    row = store.get_schedule(plan.key) or KeptSchedule(plan.key)
    status, error = row.status, row.error
    if status in BUSY and not any(plan.name in runner.schedules for runner in runners):
        by = "a node (`ultracrawl node run`, `serve`)" if has_nodes(project) else "`ultracrawl serve`"
        status = ScheduleStatus.SCHEDULED
        error = f"it was interrupted; {by} or `crawl --continuous` continues it"
    if status is ScheduleStatus.INDEXING_PENDING and not any(
        has_pending(project, source) for source in plan.sources
    ):
        status = ScheduleStatus.SCHEDULED
    now = time.time()
    row = replace(row, status=status, error=error)
    if not row.left:
        row = replace(row, due=still_due(plan, now, row.due))
    logs = [latest_log(project, source) for source in row.left] if status in BUSY else [row.log]
    return schedule_state(plan, row, next_launch(plan, row, now), logs)


class DueBy(StrEnum):
    """What crawls a source by time."""

    SCHEDULE = "schedule"
    INTERVAL = "interval"
    DEFAULT = "default-interval"
    """`processes.default_interval`, for sources with neither of the two."""


@dataclass(frozen=True, slots=True)
class Due:
    """When a source is due, or why it is not."""

    at: float | None = None
    by: DueBy | None = None
    """None if nothing crawls it by time."""
    never: str = ""
    """Why it is not due until somebody changes that; empty if it is due, or being crawled."""


class SourceTimes:
    """When sources are due, and which processes run them; what all of them share is read once."""

    def __init__(self, project: Project, latest: LatestRun) -> None:
        """Read the processes and the store of schedules. Raises `StateError` if the processes cannot be read."""
        self._project = project
        self._runners = active_runners(service_notes(project))
        self._plans: dict[str, Plan] = {}
        self._nodes: dict[str, list[str]] | None = {} if has_nodes(project) else None
        plans = plans_of(project, by_default=True, latest=latest)
        for plan in plans:
            for source in plan.sources:
                self._plans.setdefault(source, replace(plan, sources=(source,)))
        self._store: ScheduleStore | None = None
        self._paused = frozenset[str]()
        with suppress(StateError):
            if self._nodes is None:
                self._store = open_schedules(project, read_only=True)
            else:
                nodes = self._store = open_nodes(project, read_only=True)
                takers = Takers.of_store(nodes)
                self._nodes = {source: takers.of(plan) for plan in plans for source in plan.sources}
            self._paused = self._store.paused_sources()

    def close(self) -> None:
        """Close the store of schedules."""
        if self._store is not None:
            self._store.close()

    def waits_for_slot(self, source: str) -> bool:
        """Return whether the crawl of a source waits for a free slot of a service."""
        return any(source in runner.waiting for runner in self._runners)

    def is_kept(self, source: str) -> bool:
        """Return whether a process crawls a source when it is due."""
        return bool(self.nodes_of(source)) or any(source in runner.sources for runner in self._runners)

    def nodes_of(self, source: str) -> list[str] | None:
        """Return the living nodes of which one takes a source when it is due; None if the state is on one machine."""
        return None if self._nodes is None else self._nodes.get(source, [])

    def lease_left(self, source: str, machine: str) -> float | None:
        """Return for how many seconds more a process of another machine counts as running a source; None for none.

        `machine` is that of its crawl; empty for none.
        """
        runners = [one for one in self._runners if source in one.sources and not is_here(one.machine)]
        with suppress(StateError):
            if not is_here(machine):
                return crawl_lease_left(source_notes(self._project, source))
            if runners and (notes := service_notes(self._project)) is not None:
                return max(filter(None, (notes.lease_left(one.note) for one in runners)), default=None)
        return None

    def due_of(self, source: str) -> Due:
        """Return when a source is due, by its schedule or an interval, even if no process runs it."""
        project, plan = self._project, self._plans.get(source)
        if plan is None:
            return Due(never=never_due(project, source))
        by_default = plan.own and project.default_interval_of(project.sources[source]) is not None
        own = DueBy.DEFAULT if by_default else DueBy.INTERVAL
        by = own if plan.own else DueBy.SCHEDULE
        if source in self._paused:
            return Due(by=by, never=f"it is paused; `ultracrawl resume {source}`")
        with suppress(StateError):
            if (due := self._stored_due(plan, by)) is not None:
                return due
        return Due(plan.timing.first_due(time.time(), None) if plan.own else None, by)

    def _stored_due(self, plan: Plan, by: DueBy) -> Due | None:
        """Return what the store says of a plan of one source; None if only its timing says when it is due."""
        if self._store is None:
            return None
        (source,) = plan.sources
        if plan.own:
            row = self._store.get_schedule(plan.key)
            is_stopped = row is not None and row.status is ScheduleStatus.STOPPED
            return Due(by=by, never=f"it is stopped; `ultracrawl resume {source}`") if is_stopped else None
        state = _state(self._project, plan, self._store, self._runners)
        at = None if state.status in BUSY and source in state.left else state.next_run
        held = state.status in {ScheduleStatus.STOPPED, ScheduleStatus.DISABLED}
        reason = f"its schedule {plan.name} is {state.status}"
        return Due(at, by, (never_due(self._project, source) or reason) if held else "")


def history(project: Project, name: str, limit: int) -> list[ScheduleRun]:
    """Return the last runs of a schedule, the newest first. Raises `StateError`."""
    with closing(open_schedules(project, read_only=True)) as store:
        return store.runs(name, limit)


def state_as_json(state: ScheduleState) -> dict[str, Any]:
    """Return the JSON object of a schedule in `ultracrawl schedule list --json`."""
    return {
        "name": state.name,
        "sources": list(state.sources),
        "status": state.status.value,
        "left": list(state.left),
        "error": state.error or None,
        "next_run": _text(state.next_run),
        "last_begin": _text(state.last_begin),
        "last_end": _text(state.last_end),
        "log": state.log or None,
        "force": state.force,
        "mode": state.mode or None,
        "profile": state.profile or None,
        "node": state.node or None,
    }


def run_as_json(run: ScheduleRun) -> dict[str, Any]:
    """Return the JSON object of a run in `ultracrawl schedule show --json`."""
    return {
        "begun": _text(run.begun),
        "ended": _text(run.ended),
        "status": run.status.value,
        "error": run.error or None,
        "log": run.log or None,
        "sources": {name: reason or None for name, reason in run.sources.items()},
    }


def _text(at: float | None) -> str | None:
    return as_text(at) if at else None
