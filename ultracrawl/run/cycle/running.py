"""The handle of a crawl for the code that runs it in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.errors import UltracrawlError
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.control.activity import Activity
    from ultracrawl.run.control.orders import CrawlControl
    from ultracrawl.run.filters.verdict import FilterVerdict
    from ultracrawl.stores.control_channel import Command


class RunningCrawl:
    """One crawl of one source; report and visits in flight are in its context."""

    def __init__(
        self, context: CrawlContext, control: CrawlControl, verdict: FilterVerdict, activity: Activity
    ) -> None:
        self.context = context
        self._activity = activity
        self._control = control
        self._verdict = verdict
        self.opened = False
        """Whether the crawl has begun; before that there is no report."""
        self.refused: UltracrawlError | None = None
        """The error because of which it could not begin."""

    @property
    def quiet_seconds(self) -> float:
        """Seconds since the last answer, or other work than waiting."""
        return self._activity.quiet_seconds()

    @property
    def paused(self) -> bool:
        """Whether it is paused by an order."""
        return self._control.paused

    @property
    def stopped(self) -> bool:
        """Whether it was stopped by an order."""
        return self._control.stopped

    @property
    def restarts(self) -> bool:
        """Whether a function of the filters requested that the cycle restarts after this run."""
        return self._verdict.restarts

    @property
    def is_last(self) -> bool:
        """Whether a function of the filters requested that no further run follows."""
        return self._verdict.ends

    def give_order(self, command: Command) -> None:
        """Carry out an order from this process."""
        self._control.give_order(command)
