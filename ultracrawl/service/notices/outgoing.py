"""What waits for one way, and goes out on it: a way that hangs or fails holds up itself alone."""

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
MOST_UNSENT = 200
"""Notices that wait for a way that does not work; the oldest is dropped for a further one."""


class Outgoing:
    """The notices for one way."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.waiting: list[Notice] = []

    def take_notices(self, notices: Sequence[Notice]) -> bool:
        """Have what is told on this way wait for it; returns whether there was any."""
        wanted = [one for one in notices if not self.channel.kinds or one.kind in self.channel.kinds]
        self.waiting = [*self.waiting, *wanted][-MOST_UNSENT:]
        return bool(wanted)

    async def send_all(self) -> None:
        """Send all that waits as one message; what the way does not take goes on waiting."""
        sent, self.waiting = self.waiting, []
        try:
            await _apart(lambda: self.channel.send(sent))
        except Exception as error:
            self.waiting = [*sent, *self.waiting][-MOST_UNSENT:]
            known = isinstance(error, UltracrawlError)
            told = str(error) if known else f"notices.to.{self.channel.name}: {type(error).__name__}: {error}"
            logger.warning("%s", told)


async def _apart(work: Callable[[], None]) -> None:
    """Do work in a thread of its own, which keeps no process from ending."""
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
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, error)

    threading.Thread(target=run, name="notices", daemon=True).start()
    await done
