"""A supervisor that crawls nothing: it notes its orders, and sources stand as a test says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import Finding, ScheduleStatus
from ultracrawl.service.orders import (
    Event,
    EventStream,
    ScheduleState,
    SourcePhase,
    SourceState,
)


class FakeSupervision:
    """See `Supervision`."""

    def __init__(self, sources: Sequence[str] = (), schedules: Sequence[str] = ()) -> None:
        self.known = {name: SourceState(name) for name in sources}
        self.timed = {
            name: ScheduleState(name, tuple(sources), ScheduleStatus.SCHEDULED, next_run=1e9)
            for name in schedules
        }
        self.orders: list[tuple[str, ...]] = []
        self.findings: list[Finding] = []
        self.stream = EventStream()

    def sources(self) -> list[SourceState]:
        return list(self.known.values())

    def schedules(self) -> list[ScheduleState]:
        return list(self.timed.values())

    async def start_source(self, name: str, *, force: bool = False) -> None:
        if self.known[name].phase is not SourcePhase.IDLE:
            raise WorkError(f"{name} is being crawled already")
        self.orders.append(("start", name, "force" if force else ""))
        self.known[name] = replace(self.known[name], phase=SourcePhase.RUNNING, live={"fetched": 3})

    async def stop_source(self, name: str) -> None:
        if self.known[name].phase is SourcePhase.IDLE:
            raise UserError(f"{name} is not being crawled")
        self.orders.append(("stop", name))
        self.known[name] = replace(self.known[name], phase=SourcePhase.IDLE)

    async def pause_source(self, name: str) -> None:
        self.orders.append(("pause", name))

    async def resume_source(self, name: str) -> None:
        self.orders.append(("resume", name))

    async def launch_schedule(self, name: str) -> None:
        self.orders.append(("launch", name))

    async def enable_schedule(self, name: str) -> None:
        self.timed[name] = replace(self.timed[name], status=ScheduleStatus.SCHEDULED)

    async def disable_schedule(self, name: str) -> None:
        self.timed[name] = replace(self.timed[name], status=ScheduleStatus.DISABLED)

    async def stop_schedule(self, name: str) -> None:
        self.orders.append(("stop-schedule", name))

    async def resume_schedule(self, name: str) -> None:
        self.orders.append(("resume-schedule", name))

    async def reload_definitions(self) -> list[Finding]:
        return self.findings

    async def drain(self) -> None:
        self.orders.append(("drain",))

    def events(self) -> EventStream:
        return self.stream

    def tell(self, event: Event) -> None:
        """Have something happen."""
        self.stream.publish_event(event)
