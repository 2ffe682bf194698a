"""The queue of one channel, so that a channel that hangs or fails does not delay the others."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from ultracrawl.errors import UltracrawlError
from ultracrawl.service.notices.channels import Channel
from ultracrawl.service.notices.notice import Notice

logger = logging.getLogger(__name__)
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
