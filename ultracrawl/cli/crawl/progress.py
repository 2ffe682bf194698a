"""The progress line on the terminal during a crawl."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from ultracrawl.crawl import RunningCrawl
    from ultracrawl.service.orders import CrawlProgress


class ProgressLine:
    """Shows fetched, indexed, queued, pages per second and the current site, if standard error is a terminal."""

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
        """Show the current numbers of a crawl."""
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

    def update_all(self, done: int, sources: int, going: Mapping[str, CrawlProgress]) -> None:
        """Show the total numbers of running crawls in child processes."""
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
        now, (last_time, last_finished) = time.monotonic(), self._last
        if now - last_time >= 1.0:
            is_valid = last_time and finished >= last_finished
            self._rate = (finished - last_finished) / (now - last_time) if is_valid else 0.0
            self._last = (now, finished)


class _LiveLine:
    """A line on standard error that is updated in place, and removed by `stop`.

    Its libraries are imported here: 10 ms that a crawl without a terminal saves.
    """

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - see above
        from rich.live import Live  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        live = Live(console=Console(stderr=True), refresh_per_second=5, transient=True)
        self.start, self.stop = live.start, live.stop
        self._update, self._text = live.update, Text

    def show(self, text: str) -> None:
        """Replace the text of the line, cut to the width of the terminal."""
        self._update(self._text(text, no_wrap=True, overflow="ellipsis"))
