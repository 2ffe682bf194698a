"""Notices in a service: handles events, checks conditions regularly, and sends due notices."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from ultracrawl.errors import UserError
from ultracrawl.service.answers.watching import AnswerWatch
from ultracrawl.service.notices.channels import Channel, open_channels
from ultracrawl.service.notices.digest import GATHER_SECONDS, NoticeDigest
from ultracrawl.service.notices.notice import Notice
from ultracrawl.service.notices.outgoing import Outgoing
from ultracrawl.service.notices.watch import ServiceWatch
from ultracrawl.service.orders import Clock, Event, EventKind, Supervision
from ultracrawl.sources import Project
from ultracrawl.sources.sections.notices import NoticeKind

logger = logging.getLogger(__name__)
ROUND_INTERVAL = 5.0
"""Seconds between two checks for due notices."""
_PATIENCE, _LAST_PATIENCE = 5.0, 15.0
"""Seconds to wait for slow channels in a round, and at the end of the service."""
WATCH_INTERVAL = 300.0
"""Seconds between two checks of disks and sources."""

_KINDS = {
    EventKind.RUN_FAILED: NoticeKind.RUN_FAILED,
    EventKind.CHILD_DIED: NoticeKind.CHILD_DIED,
    EventKind.RELOAD_REFUSED: NoticeKind.RELOAD_REFUSED,
}
_PASSES = frozenset({NoticeKind.RUN_FAILED, NoticeKind.SOURCE_STALE})
"""Kinds of notices that a successful run resolves."""


def notice_of(event: Event) -> Notice | None:
    """Return the notice for an event; None if it needs nobody."""
    kind = _KINDS.get(event.kind)
    if kind is None:
        return None
    text = event.text or (event.end.line if event.end is not None else "") or kind.value
    printable = "".join(character if character.isprintable() else " " for character in text)
    return Notice(kind, event.source, printable, event.at)


class Noticing:
    """Sends notices about the events and conditions of a service, inside `running`."""

    def __init__(
        self,
        project: Callable[[], Project],
        supervisor: Supervision,
        clock: Clock,
        *,
        channels: Callable[[Project], Sequence[Channel]] = open_channels,
        watch: ServiceWatch | None = None,
    ) -> None:
        """Open the channels. Raises `UserError` for one that cannot be used."""
        self._project = project
        self._defined = project()
        self._open = channels
        self._outgoing = {channel.name: Outgoing(channel) for channel in channels(self._defined)}
        self._supervisor = supervisor
        self._clock = clock
        self._watch = watch or ServiceWatch(project)
        self._digest = NoticeDigest(self._defined.notices.every or 0.0)
        self._troubled = set[str]()
        """Sources with an unresolved notice, or whose last crawl had failed when the service started."""
        self._watched_at = 0.0
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._answers = AnswerWatch(project, self._tell_fallen)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send notices inside the block, and the gathered ones at its end."""
        events = self._supervisor.events()

        async def listen() -> None:
            if self._outgoing:
                await _kept_alive(self._recall_failures())
            async for event in events:
                await _kept_alive(self.add_event(event))

        async def rounds() -> None:
            while True:
                await _kept_alive(self.hold_round())
                await self._clock.sleep(ROUND_INTERVAL)

        tasks = [asyncio.ensure_future(work) for work in (listen(), rounds(), self._answers.run())]
        try:
            yield
        finally:
            events.close()
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await self._send(self._clock.now() + GATHER_SECONDS, again=True, wait=_LAST_PATIENCE)
            for name, sending in self._sending.items():
                logger.warning(
                    "notices.to.%s: the channel did not finish in time; its last notices may be lost", name
                )
                sending.cancel()

    async def _recall_failures(self) -> None:
        self._troubled |= await asyncio.to_thread(self._watch.failed_sources)

    async def add_event(self, event: Event) -> None:
        """Add the notices of an event; after a run also those of what was held back and of a recovery.

        After a run the golden queries are checked as well, beside the events.
        """
        if event.end is not None and event.end.report is not None:
            self._answers.note_crawl()
        if not self._outgoing:
            return
        notice = notice_of(event)
        if notice is not None:
            self._take_notice(notice)
        if event.end is None:
            return
        if event.end.report is not None and not event.end.failed and event.source in self._troubled:
            self._troubled.discard(event.source)
            text = f"crawled successfully again: {event.end.report.summary()}"
            self._take_notice(Notice(NoticeKind.RECOVERED, event.source, text, event.at))
        for held in await asyncio.to_thread(self._watch.held_back, event.source, event.at):
            self._take_notice(held)

    def _tell_fallen(self, text: str) -> None:
        logger.warning("%s", text)
        self._digest.add_notice(Notice(NoticeKind.ANSWERS_FELL, "", text, self._clock.now()))

    def _take_notice(self, notice: Notice) -> None:
        if notice.kind in _PASSES:
            self._troubled.add(notice.source)
        self._digest.add_notice(notice)

    async def hold_round(self) -> None:
        """Check the conditions if it is time, and send the due notices."""
        now = self._clock.now()
        self._update_channels()
        is_watch_due = bool(self._outgoing) and abs(now - self._watched_at) >= WATCH_INTERVAL
        if is_watch_due:
            self._watched_at = now
            await _kept_alive(self._check_conditions(now))
        await self._send(now, again=is_watch_due, wait=_PATIENCE)

    def _update_channels(self) -> None:
        """Use the channels of the present definition; the old ones stay if a new one cannot be used."""
        project = self._project()
        if project is self._defined:
            return
        self._defined = project
        try:
            opened = self._open(project)
        except UserError as error:
            logger.warning("the changed notice channels cannot be used, the previous ones stay: %s", error)
            return
        before = self._outgoing
        self._outgoing = {channel.name: before.get(channel.name) or Outgoing(channel) for channel in opened}
        for channel in opened:
            self._outgoing[channel.name].channel = channel
        self._digest.every = project.notices.every or 0.0

    async def _check_conditions(self, now: float) -> None:
        for notice in await asyncio.to_thread(lambda: list(self._watch.notices(now))):
            self._take_notice(notice)

    async def _send(self, now: float, *, again: bool, wait: float) -> None:
        """Send the due notices on each channel, with those that failed before; with `again` also only these."""
        due = self._digest.due_notices(now)
        for name, outgoing in self._outgoing.items():
            has_new = outgoing.add_notices(due)
            if outgoing.waiting and (has_new or again) and name not in self._sending:
                self._sending[name] = asyncio.ensure_future(outgoing.send_all())
        if self._sending:
            await asyncio.wait(self._sending.values(), timeout=wait)
            self._sending = {name: task for name, task in self._sending.items() if not task.done()}


async def _kept_alive(work: Awaitable[None]) -> None:
    """Await work and log any exception, so that it does not end the caller's loop."""
    try:
        await work
    except Exception as error:
        logger.warning("notices: %s: %s", type(error).__name__, error)
