"""Notices in a service: takes what happens, looks for what nobody tells, and sends what is due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from ultracrawl.errors import UserError
from ultracrawl.service.notices.channels import Channel, open_channels
from ultracrawl.service.notices.digest import GATHERED, NoticeDigest
from ultracrawl.service.notices.notice import Notice
from ultracrawl.service.notices.outgoing import Outgoing
from ultracrawl.service.notices.watch import ServiceWatch
from ultracrawl.service.orders import Clock, Event, EventKind, Supervision
from ultracrawl.sources import Project
from ultracrawl.sources.sections.notices import NoticeKind

logger = logging.getLogger(__name__)
ROUND = 5.0
"""Seconds between two looks at what is due."""
_PATIENCE, _LAST_PATIENCE = 5.0, 15.0
"""Seconds for which a round waits for ways that are slow, and the end of the service does."""
WATCHED_EVERY = 300.0
"""Seconds between two looks at disks and sources."""

_KINDS = {
    EventKind.RUN_FAILED: NoticeKind.RUN_FAILED,
    EventKind.CHILD_DIED: NoticeKind.CHILD_DIED,
    EventKind.RELOAD_REFUSED: NoticeKind.RELOAD_REFUSED,
}
_PASSES = frozenset({NoticeKind.RUN_FAILED, NoticeKind.SOURCE_STALE})
"""Kinds of notices that a run which ended well makes good."""


def notice_of(event: Event) -> Notice | None:
    """Return the notice that an event is; None for one that needs nobody."""
    kind = _KINDS.get(event.kind)
    if kind is None:
        return None
    text = event.text or (event.end.line if event.end is not None else "") or kind.value
    return Notice(kind, event.source, "".join(one if one.isprintable() else " " for one in text), event.at)


class Noticing:
    """Tells people what needs them, as long as `running`."""

    def __init__(
        self,
        project: Callable[[], Project],
        supervisor: Supervision,
        clock: Clock,
        *,
        channels: Callable[[Project], Sequence[Channel]] = open_channels,
        watch: ServiceWatch | None = None,
    ) -> None:
        """Raise `UserError` for a way that cannot be used."""
        self._project = project
        self._defined = project()
        self._open = channels
        self._outgoing = {one.name: Outgoing(one) for one in channels(self._defined)}
        self._supervisor = supervisor
        self._clock = clock
        self._watch = watch or ServiceWatch(project)
        self._digest = NoticeDigest(self._defined.notices.every or 0.0)
        self._troubled = set[str]()
        """Sources of which something was told that a good run makes good, or that had failed when the service began."""
        self._watched_at = 0.0
        self._sending: dict[str, asyncio.Task[None]] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Tell what happens as long as the block goes on, and what was gathered at its end."""
        events = self._supervisor.events()

        async def listen() -> None:
            if self._outgoing:
                await _kept_alive(self._recall_failures())
            async for event in events:
                await _kept_alive(self.add_event(event))

        async def rounds() -> None:
            while True:
                await _kept_alive(self.hold_round())
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
            await self._send(self._clock.now() + GATHERED, again=True, wait=_LAST_PATIENCE)
            for name, sending in self._sending.items():
                logger.warning("notices.to.%s: takes too long, so what it was sent last may be lost", name)
                sending.cancel()

    async def _recall_failures(self) -> None:
        self._troubled |= await asyncio.to_thread(self._watch.failed_sources)

    async def add_event(self, event: Event) -> None:
        """Take note of what happened; after a run, also of deletions that it held back, and of a recovery."""
        if not self._outgoing:
            return
        notice = notice_of(event)
        if notice is not None:
            self._take_notice(notice)
        if event.end is None:
            return
        if event.end.report is not None and not event.end.failed and event.source in self._troubled:
            self._troubled.discard(event.source)
            text = f"it was crawled well again: {event.end.report.summary()}"
            self._take_notice(Notice(NoticeKind.RECOVERED, event.source, text, event.at))
        held = await asyncio.to_thread(self._watch.deletions_waiting, event.source, event.at)
        if held is not None:
            self._take_notice(held)

    def _take_notice(self, notice: Notice) -> None:
        if notice.kind in _PASSES:
            self._troubled.add(notice.source)
        self._digest.take_notice(notice)

    async def hold_round(self) -> None:
        """Look for what nobody tells, if it is time, and send what is due."""
        now = self._clock.now()
        self._take_definition()
        looks = bool(self._outgoing) and abs(now - self._watched_at) >= WATCHED_EVERY
        if looks:
            self._watched_at = now
            await _kept_alive(self._look(now))
        await self._send(now, again=looks, wait=_PATIENCE)

    def _take_definition(self) -> None:
        """Have the ways be those of the definition as it is now; they stay if one of them cannot be used."""
        project = self._project()
        if project is self._defined:
            return
        self._defined = project
        try:
            opened = self._open(project)
        except UserError as error:
            logger.warning("notices go out as before: %s", error)
            return
        before = self._outgoing
        self._outgoing = {one.name: before.get(one.name) or Outgoing(one) for one in opened}
        for one in opened:
            self._outgoing[one.name].channel = one
        self._digest.every = project.notices.every or 0.0

    async def _look(self, now: float) -> None:
        for notice in await asyncio.to_thread(lambda: list(self._watch.notices(now))):
            self._take_notice(notice)

    async def _send(self, now: float, *, again: bool, wait: float) -> None:
        """Send what is due on each way; what could not be sent before goes with it, or `again` by itself."""
        due = self._digest.due_notices(now)
        for name, outgoing in self._outgoing.items():
            wanted = outgoing.take_notices(due)
            if outgoing.waiting and (wanted or again) and name not in self._sending:
                self._sending[name] = asyncio.ensure_future(outgoing.send_all())
        if self._sending:
            await asyncio.wait(self._sending.values(), timeout=wait)
            self._sending = {name: task for name, task in self._sending.items() if not task.done()}


async def _kept_alive(work: Awaitable[None]) -> None:
    """Do work for somebody who goes on for months, whatever happens to it."""
    try:
        await work
    except Exception as error:
        logger.warning("notices: %s: %s", type(error).__name__, error)
