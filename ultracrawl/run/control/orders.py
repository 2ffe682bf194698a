"""Pause, resume and stop orders of other processes to a running crawl (portal robot 13.1)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracrawl.run.hooks import Feature
from ultracrawl.stores.control_channel import Command, ControlChannel, Phase

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

ORDER_POLL_TICKS = 10
"""Ticks of 0.1 s between two checks for an order."""
STOPPED = "stopped"
"""Close reason of the spider of a crawl that was stopped by an order."""


class CrawlControl(Feature):
    """Carries out `ultracrawl pause`, `resume` and `stop`, and publishes the phase of the crawl.

    While paused, the scheduler returns no requests, visits in flight are finished and their documents are submitted
    to the index. A pause ends with the process: a later crawl of the source is not paused.
    """

    def __init__(self, context: CrawlContext, in_flight: Callable[[], int]) -> None:
        self._context = context
        self._in_flight = in_flight
        """Returns the number of requests sent or being processed."""
        self._channel: ControlChannel | None = None
        self._ticks = 0
        self.paused = False
        """Whether no requests may be handed out."""
        self.stopped = False
        """Whether the crawl was ordered to stop."""

    def open(self, channel: ControlChannel | None) -> None:
        """Accept orders from a channel; None (state in memory) accepts none."""
        self._channel = channel

    def tick(self) -> None:
        """Check for an order, and whether a pause is complete."""
        self._ticks += 1
        if self._channel is None:
            return
        if self._channel.phase is Phase.PAUSING:
            self._finish_pause(self._channel)
        if self._ticks % ORDER_POLL_TICKS == 0:
            self._channel.publish_wait(self._context.run.wait)
            self._obey(self._channel, self._channel.pop_order())

    def give_order(self, command: Command) -> None:
        """Carry out an order from this process."""
        if self._channel is not None:
            self._obey(self._channel, command)

    def _obey(self, channel: ControlChannel, command: Command | None) -> None:
        if command is None or self.stopped:
            return
        logger.info("%s: received the command %s", self._context.source.name, command)
        match command:
            case Command.PAUSE if not self.paused:
                self.paused = True
                channel.publish_phase(Phase.PAUSING, self._in_flight())
            case Command.RESUME if self.paused:
                self.paused = False
                channel.publish_phase(Phase.RUNNING)
                for notify in self._context.hooks[Feature.resumed]:
                    notify()
            case Command.STOP:
                self._stop(channel)

    def _stop(self, channel: ControlChannel) -> None:
        """End the crawl like a single Ctrl-C: visits in flight are finished, the rest stays queued."""
        self.stopped = True
        channel.publish_phase(Phase.STOPPING, self._in_flight())
        self._context.run.end_soon(STOPPED)

    def _finish_pause(self, channel: ControlChannel) -> None:
        """Publish the phase PAUSED once nothing is in flight; fetched documents are submitted to the index."""
        if in_flight := self._in_flight():
            channel.publish_phase(Phase.PAUSING, in_flight)
            return
        self._context.flush()
        self._context.documents.writer.drain()
        channel.publish_phase(Phase.PAUSED)

    def publish_ending(self, *, interrupted: bool) -> None:
        """Publish that nothing more is fetched."""
        if self._channel is not None:
            self._channel.publish_wait(None)
            self._channel.publish_phase(Phase.STOPPING if interrupted else Phase.FINISHING)

    def close(self) -> None:
        """Close the channel of orders."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
