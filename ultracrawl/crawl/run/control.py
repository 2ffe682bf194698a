"""A running crawl under the control of other processes: it is paused, goes on, or stops (portal robot 13.1)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracrawl.crawl.hooks import Feature
from ultracrawl.stores.control_channel import Command, ControlChannel, Phase

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext

logger = logging.getLogger(__name__)

LOOK_EVERY = 10
"""Ticks of the crawl, of a tenth of a second, between two looks for an order."""
STOPPED = "stopped"
"""The reason with which Scrapy closes the spider of a crawl that was told to stop."""


class CrawlControl(Feature):
    """Obeys `ultracrawl pause`, `resume` and `stop`, and shows what the crawl is doing.

    Paused means: the scheduler hands out nothing, what was in flight is done, and what was fetched is on its way
    to the index. It ends with the process: a later crawl of the source goes on.
    """

    def __init__(self, context: CrawlContext, in_flight: Callable[[], int]) -> None:
        self._context = context
        self._in_flight = in_flight
        """Counts the requests that are out, or their answers in work."""
        self._post: ControlChannel | None = None
        self._ticks = 0
        self.paused = False
        """Whether no requests may be handed out."""
        self.stopped = False
        """Whether the crawl was told to stop."""

    def open(self, post: ControlChannel | None) -> None:
        """Begin to take orders; a state in memory has no channel, and takes none."""
        self._post = post

    def tick(self) -> None:
        """Look for an order, and whether the last one is carried out; called ten times a second."""
        self._ticks += 1
        if self._post is None:
            return
        if self._post.phase is Phase.PAUSING:
            self._settle(self._post)
        if self._ticks % LOOK_EVERY == 0:
            self._obey(self._post, self._post.pop_order())

    def give_order(self, command: Command) -> None:
        """Give an order from inside this process."""
        if self._post is not None:
            self._obey(self._post, command)

    def _obey(self, post: ControlChannel, command: Command | None) -> None:
        if command is None or self.stopped:
            return
        logger.info("%s: %s, as ordered from outside", self._context.source.name, command)
        match command:
            case Command.PAUSE if not self.paused:
                self.paused = True
                post.publish_phase(Phase.PAUSING, self._in_flight())
            case Command.RESUME if self.paused:
                self.paused = False
                post.publish_phase(Phase.RUNNING)
                for told in self._context.hooks.resumed:
                    told()
            case Command.STOP:
                self._stop(post)

    def _stop(self, post: ControlChannel) -> None:
        """End the crawl as one Ctrl-C does: what is in flight is finished, what waits stays queued."""
        self.stopped = True
        post.publish_phase(Phase.STOPPING, self._in_flight())
        self._context.run.end_soon(STOPPED)

    def _settle(self, post: ControlChannel) -> None:
        """Report the crawl as paused once nothing is in flight; what was fetched is indexed meanwhile."""
        if in_flight := self._in_flight():
            post.publish_phase(Phase.PAUSING, in_flight)
            return
        self._context.flush()
        self._context.documents.writer.drain()
        post.publish_phase(Phase.PAUSED)

    def ending(self, *, interrupted: bool) -> None:
        """Say that nothing more is fetched."""
        if self._post is not None:
            self._post.publish_phase(Phase.STOPPING if interrupted else Phase.FINISHING)

    def close(self) -> None:
        """Take no more orders."""
        if self._post is not None:
            self._post.close()
            self._post = None
