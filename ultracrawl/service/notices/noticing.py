"""Notices in a service: takes what happens, looks for what nobody tells, and sends what is due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.service.notices.channels import Channel, open_channels
from ultracrawl.service.notices.digest import GATHERED, NoticeDigest
from ultracrawl.service.notices.notice import Notice
from ultracrawl.service.notices.watch import ServiceWatch
from ultracrawl.service.orders import Clock, Event, EventKind, Supervision
from ultracrawl.sources import Project
from ultracrawl.sources.sections.notices import NoticeKind

logger = logging.getLogger(__name__)
ROUND = 5.0
"""Seconds between two looks at what is due."""
WATCHED_EVERY = 300.0
"""Seconds between two looks at disks and sources."""
MOST_UNSENT = 200
"""Notices that wait for a way that does not work; the oldest is dropped for a further one."""

_KINDS = {kind.value: kind for kind in NoticeKind}


def notice_of(event: Event) -> Notice | None:
    """Return the notice that an event is; None for one that needs nobody."""
    kind = _KINDS.get(event.kind.value)
    if kind is None:
        return None
    end = event.end
    problems = end.report.problems if end is not None and end.report is not None else []
    text = (
        event.text or (end.error if end is not None else "") or next(iter(problems), "") or event.kind.value
    )
    return Notice(kind, event.source, "".join(one if one.isprintable() else " " for one in text), event.at)


class Noticing:
    """Tells people what needs them, as long as `running`."""

    def __init__(
        self,
        project: Callable[[], Project],
        supervisor: Supervision,
        clock: Clock,
        *,
        channels: Sequence[Channel] | None = None,
        watch: ServiceWatch | None = None,
    ) -> None:
        """Raise `UserError` for a way that cannot be used."""
        self._channels = open_channels(project()) if channels is None else channels
        self._supervisor = supervisor
        self._clock = clock
        self._watch = watch or ServiceWatch(project)
        self._digest = NoticeDigest(project().notices.every or 0.0)
        self._unsent: dict[str, list[Notice]] = {one.name: [] for one in self._channels}
        self._watched_at = 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Tell what happens as long as the block goes on, and what was gathered at its end."""
        if not self._channels:
            yield
            return
        events = self._supervisor.events()

        async def listen() -> None:
            async for event in events:
                await self.take_event(event)

        async def rounds() -> None:
            while True:
                await self.hold_round()
                await self._clock.sleep(ROUND)

        tasks = [asyncio.ensure_future(one()) for one in (listen, rounds)]
        try:
            yield
        finally:
            events.close()
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await self._send_all(self._clock.now() + GATHERED, again=True)

    async def take_event(self, event: Event) -> None:
        """Take note of what happened; after a run, also of deletions that it held back."""
        notice = notice_of(event)
        if notice is not None:
            self._digest.take_notice(notice)
        if event.kind in (EventKind.RUN_ENDED, EventKind.RUN_FAILED) and event.source:
            held = await asyncio.to_thread(self._watch.deletions_waiting, event.source, event.at)
            if held is not None:
                self._digest.take_notice(held)

    async def hold_round(self) -> None:
        """Look for what nobody tells, if it is time, and send what is due."""
        now = self._clock.now()
        looks = now >= self._watched_at + WATCHED_EVERY
        if looks:
            self._watched_at = now
            try:
                for notice in await asyncio.to_thread(lambda: list(self._watch.notices(now))):
                    self._digest.take_notice(notice)
            except UltracrawlError as error:
                logger.warning("%s", error)
        await self._send_all(now, again=looks)

    async def _send_all(self, now: float, *, again: bool) -> None:
        due = self._digest.due_notices(now)
        for channel in self._channels:
            await self._send(channel, due, again=again)

    async def _send(self, channel: Channel, due: Sequence[Notice], *, again: bool) -> None:
        """Send what is due on one way; what could not be sent before goes with it, or `again` by itself."""
        wanted = [one for one in due if not channel.kinds or one.kind in channel.kinds]
        waiting = [*self._unsent[channel.name], *wanted][-MOST_UNSENT:]
        if not waiting or not (wanted or again):
            self._unsent[channel.name] = waiting
            return
        try:
            await asyncio.to_thread(channel.send, waiting)
        except WorkError as error:
            logger.warning("%s", error)
            self._unsent[channel.name] = waiting
        else:
            self._unsent[channel.name] = []
