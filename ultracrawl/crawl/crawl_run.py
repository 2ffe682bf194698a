"""The run of a crawl as its features see it: what kind of run it is, what goes wrong in it, and its end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from ultracrawl.crawl.run_counters import RunCounters
from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.stores import RunMark

logger = logging.getLogger(__name__)

FAILED = "failed"
"""The reason with which Scrapy closes the spider of a crawl that cannot go on."""


class CrawlRun:
    """The port `run` of a crawl.

    The kind of the run is decided while it begins (`crawl.run.begin`), and stays as it is afterwards.
    """

    mark: RunMark
    """The run as the store knows it."""
    counters: RunCounters
    """What counts in the run."""

    def __init__(self, close_soon: Callable[[str], None], *, force: bool, replay: bool) -> None:
        self._close_soon = close_soon
        self.force = force
        """Make documents of all pages anew, changed or not."""
        self.rescan = False
        """Fetch and scan every page of this run, changed or not: forced, or the scope of the source changed."""
        self.remade = False
        """The definition makes other documents of the same pages than in the run before."""
        self.replay = replay
        """Documents are made again from what is stored; no run begins or ends."""
        self.inspection = False
        """Single pages are looked at, and nothing is crawled."""
        self.listing = False
        """Whether the source is still being listed: an empty queue is not the end."""
        self.partial = False
        """Whether the source was listed in part, so that nothing is known of the rest."""
        self.failed = False
        """Whether something happened that no further URL can get around."""
        self.mistake: UserError | None = None
        """The user's mistake by which it failed before it came to anything."""

    @property
    def problems(self) -> Sequence[str]:
        """One line for each failure that is larger than a URL."""
        return self.counters.problems

    def add_problem(self, problem: str) -> None:
        """Have the report tell of a failure that is larger than a URL."""
        self.counters.add_problem(problem)

    def note_problem(self, problem: WorkError | str) -> None:
        """Have the report tell of a failure that is larger than a URL, once; the crawl goes on."""
        if self.counters.add_new_problem(str(problem)):
            logger.error("%s", problem)

    def fail(self, problem: UltracrawlError | str) -> None:
        """Note a failure that no further URL can get around, and end the crawl; what is durable stays."""
        if self.failed:
            return
        self.failed = True
        self.add_problem(str(problem))
        if isinstance(problem, UserError) and not self.counters.outcomes:
            self.mistake = problem  # told at the end, as those are of crawls that cannot begin
        else:
            logger.error("%s", problem)
        self.end_soon(FAILED)

    def end_soon(self, reason: str) -> None:
        """Have the crawl end once what is in flight is done."""
        self._close_soon(reason)
