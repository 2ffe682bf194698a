"""A crawl as those see it who run it, in this process: whether it began, how it is doing, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.portal_filters.verdict import FilterVerdict
    from ultracrawl.crawl.run.control import CrawlControl
    from ultracrawl.errors import UltracrawlError
    from ultracrawl.stores.control_channel import Command


class RunningCrawl:
    """One crawl of one source; the report and what is in flight are in its context."""

    def __init__(self, context: CrawlContext, control: CrawlControl, verdict: FilterVerdict) -> None:
        self.context = context
        self._control = control
        self._verdict = verdict
        self.opened = False
        """Whether it has begun; before that there is no report."""
        self.refused: UltracrawlError | None = None
        """Why it could not begin."""

    @property
    def paused(self) -> bool:
        """Whether it hands out no requests, as ordered from outside."""
        return self._control.paused

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""
        return self._control.stopped

    @property
    def restarts(self) -> bool:
        """Whether the cycle begins anew after it, because a function of the filters said so."""
        return self._verdict.restarts

    @property
    def ends_all(self) -> bool:
        """Whether nothing comes after it, because a function of the filters said so."""
        return self._verdict.ends

    def give_order(self, command: Command) -> None:
        """Give an order from inside this process."""
        self._control.give_order(command)
