"""The line on the terminal while a crawl goes on."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from ultracrawl.crawl import RunningCrawl
    from ultracrawl.service.supervisor.messages import Live


class ProgressLine:
    """Shows fetched, indexed, queued, pages a second and the current site; silent where there is no terminal."""

    def __init__(self, *, enabled: bool) -> None:
        self._live = _LiveLine() if enabled and sys.stderr.isatty() else None
        self._rate = 0.0
        self._last = (0.0, 0)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def update(self, crawl: RunningCrawl) -> None:
        """Show the numbers of a crawl as they are now."""
        if self._live is None:
            return
        report = crawl.context.report
        self._measure(report.outcomes.total())
        site = next((visit.entry.site for visit in crawl.context.visits.values()), "")
        phase = "crawling" if report.queued else "indexing"
        if crawl.paused:
            phase = "paused"
        self._live.show(
            f"{report.source}: {phase} · {report.fetched:,} fetched · {report.indexed:,} indexed · "
            f"{report.queued:,} queued · {self._rate:,.0f} pages/s · {site}"
        )

    def update_all(self, done: int, sources: int, going: Mapping[str, Live]) -> None:
        """Show the numbers of all crawls that go on, each in a process of its own."""
        if self._live is None:
            return
        total = Counter[str]()
        for live in going.values():
            total.update(live.counts)
        self._measure(total["done"])
        self._live.show(
            f"{done} of {sources} sources done · {total['fetched']:,} fetched · {total['indexed']:,} indexed · "
            f"{total['queued']:,} queued · {self._rate:,.0f} pages/s · crawling {', '.join(going)}"
        )

    def _measure(self, finished: int) -> None:
        now, (then, before) = time.monotonic(), self._last
        if now - then >= 1.0:
            self._rate = (finished - before) / (now - then) if then and finished >= before else 0.0
            self._last = (now, finished)


class _LiveLine:
    """One line on standard error that is written over and over; it is gone after `stop`.

    What it needs is loaded with it: 10 ms that a crawl without a terminal spares.
    """

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - see above
        from rich.live import Live  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        live = Live(console=Console(stderr=True), refresh_per_second=5, transient=True)
        self.start, self.stop = live.start, live.stop
        self._update, self._text = live.update, Text

    def show(self, text: str) -> None:
        """Put this text in place of the last one, cut where the terminal ends."""
        self._update(self._text(text, no_wrap=True, overflow="ellipsis"))
