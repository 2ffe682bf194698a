"""Notices in a service: handles events, checks conditions regularly, and sends due notices."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import UltracrawlError, UserError
from ultracrawl.model.dates import parse_w3c_date
from ultracrawl.service.answers.watching import AnswerWatch
from ultracrawl.service.notices.channels import Channel, open_channels
from ultracrawl.service.notices.notice import Notice
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
        events = self._supervisor.events().subscribe()

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
        started = parse_w3c_date(event.end.report.started) if event.end.report is not None else None
        if started is not None:
            found = await asyncio.to_thread(
                self._watch.new_traps, event.source, started.timestamp(), event.at
            )
            for trap in found:
                self._take_notice(trap)

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


GATHER_SECONDS = 10.0
"""Seconds for which notices are gathered into one message."""


@dataclass(slots=True)
class _Sent:
    at: float
    repeated: Notice | None = None
    """The repetitions since then, combined."""


class NoticeDigest:
    """Collects notices and returns those that are due: the same kind and source at most once in `every` seconds.

    A clock that is set back delays notices by at most `every` seconds.
    """

    def __init__(self, every: float, gather_seconds: float = GATHER_SECONDS) -> None:
        self.every = every
        self._gather_seconds = gather_seconds
        self._waiting: dict[tuple[NoticeKind, str], Notice] = {}
        self._since = 0.0
        self._sent: dict[tuple[NoticeKind, str], _Sent] = {}

    def add_notice(self, notice: Notice) -> None:
        """Add a notice."""
        key = notice.kind, notice.source
        sent = self._sent.get(key)
        if sent is not None and abs(notice.at - sent.at) < self.every:
            sent.repeated = _combined(sent.repeated, notice)
            return
        if not self._waiting:
            self._since = notice.at
        self._waiting[key] = _combined(self._waiting.get(key), notice)

    def due_notices(self, now: float) -> list[Notice]:
        """Return the notices to send now, in the order of their times; they count as sent."""
        for key, sent in list(self._sent.items()):
            if abs(now - sent.at) >= self.every:
                del self._sent[key]
                if sent.repeated is not None:
                    self._since = self._since if self._waiting else now - self._gather_seconds
                    self._waiting[key] = _combined(sent.repeated, self._waiting.get(key))
        if not self._waiting or abs(now - self._since) < self._gather_seconds:
            return []
        due = sorted(self._waiting.values(), key=lambda notice: notice.at)
        self._waiting.clear()
        self._sent |= {(notice.kind, notice.source): _Sent(now) for notice in due}
        return due


def _combined(before: Notice | None, notice: Notice | None) -> Notice:
    """Return two notices of the same kind and source as one: the later text, and the sum of the counts."""
    if before is None or notice is None:
        single = before or notice
        assert single is not None
        return single
    return replace(notice, times=before.times + notice.times)


MAX_UNSENT = 200
"""Notices that are queued for a channel that fails; a further one drops the oldest."""


class Outgoing:
    """The queue of unsent notices of one channel."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.waiting: list[Notice] = []

    def add_notices(self, notices: Sequence[Notice]) -> bool:
        """Queue the notices whose kinds the channel sends; returns whether there were any."""
        kinds = self.channel.kinds
        queued = [notice for notice in notices if not kinds or notice.kind in kinds]
        self.waiting = [*self.waiting, *queued][-MAX_UNSENT:]
        return bool(queued)

    async def send_all(self) -> None:
        """Send all queued notices as one message; on failure they stay in the queue."""
        sent, self.waiting = self.waiting, []
        try:
            await _in_daemon_thread(lambda: self.channel.send(sent))
        except Exception as error:
            self.waiting = [*sent, *self.waiting][-MAX_UNSENT:]
            is_expected = isinstance(error, UltracrawlError)
            text = f"notices.to.{self.channel.name}: {type(error).__name__}: {error}"
            logger.warning("%s", error if is_expected else text)


async def _in_daemon_thread(work: Callable[[], None]) -> None:
    """Run work in a daemon thread, which does not delay the exit of the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def tell(error: Exception | None) -> None:
        if not done.done():
            done.set_result(None) if error is None else done.set_exception(error)

    def run() -> None:
        error = None
        try:
            work()
        except Exception as found:
            error = found
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(tell, error)

    threading.Thread(target=run, name="notices", daemon=True).start()
    await done
