"""The line on the terminal while a crawl goes on."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ultracrawl.extensions import CrawlSession


class ProgressLine:
    """Shows fetched, indexed, queued, pages a second and the current site; silent where there is no terminal."""

    def __init__(self, *, enabled: bool) -> None:
        self._console = Console(stderr=True)
        self._live: Live | None = None
        if enabled and self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=5, transient=True)
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

    def update(self, session: CrawlSession) -> None:
        """Show the numbers of a crawl as they are now."""
        if self._live is None:
            return
        report = session.report
        now, finished = time.monotonic(), report.outcomes.total()
        then, before = self._last
        if now - then >= 1.0:
            self._rate = (finished - before) / (now - then) if then and finished >= before else 0.0
            self._last = (now, finished)
        site = next((visit.entry.site for visit in session.visits.values()), "")
        phase = "crawling" if report.queued else "indexing"
        if session.control.paused:
            phase = "paused"
        self._live.update(
            Text(
                f"{report.source}: {phase} · {report.fetched:,} fetched · {report.indexed:,} indexed · "
                f"{report.queued:,} queued · {self._rate:,.0f} pages/s · {site}",
                no_wrap=True,
                overflow="ellipsis",
            )
        )
