"""The progress of crawls on standard error: lines that are updated on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import click

from ultracrawl.cli.terminal import rough_time
from ultracrawl.dataclass import dataclass, field

if TYPE_CHECKING:
    from ultracrawl.run import RunningCrawl
    from ultracrawl.service.orders import CrawlProgress

PLAIN_INTERVAL = 30.0
"""Seconds between two lines where standard error is no terminal."""
MAX_LINES = 12
"""Running crawls that are shown, a line each."""
_SEPARATOR = " · "
_RATE_INTERVAL = 1.0
_RATE_WINDOW = 5.0
"""Seconds over which the current rate is measured."""
_ENOUGH = 5.0
"""Seconds after which the rate so far tells how long the queue will take."""


class Screen(Protocol):
    """Shows the latest lines until it is stopped."""

    def start(self) -> None:
        """Begin to show lines."""

    def is_due(self) -> bool:
        """Whether lines that are shown now would be seen."""

    def show(self, lines: list[str]) -> None:
        """Replace the lines."""

    def stop(self) -> None:
        """Remove the lines, if that is possible."""


class Progress:
    """Shows phase, time, counts, rate and current site of running crawls; nothing if it is not enabled.

    `delay` is that of a single source with one site, in seconds: then it says about how long its queue takes.
    """

    def __init__(
        self,
        *,
        enabled: bool,
        screen: Screen | None = None,
        clock: Callable[[], float] = time.monotonic,
        delay: float = 0.0,
    ) -> None:
        self._delay = delay
        self._screen = (
            (screen or (_Terminal() if sys.stderr.isatty() else _Plain(clock))) if enabled else None
        )
        self._clock = clock
        self._began = clock()
        self._rates: dict[str, _Rate] = {}

    def __enter__(self) -> Self:
        if self._screen:
            self._screen.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._screen:
            self._screen.stop()

    def update(self, crawl: RunningCrawl) -> None:
        """Show the current numbers of a crawl in this process."""
        if self._screen is None:
            return
        self._rate("").measure(self._clock(), crawl.context.counters.outcomes.total())
        if not self._screen.is_due():
            return
        report = crawl.context.report
        phase = "paused" if crawl.paused else "crawling" if report.queued else "indexing"
        counts = {
            "fetched": report.fetched,
            "indexed": report.indexed,
            "queued": report.queued,
            "done": report.outcomes.total(),
            "failed": sum(number for outcome, number in report.outcomes.items() if outcome.transient),
        }
        sites = {visit.entry.site for visit in crawl.context.visits.values()}
        site = next(iter(sites), "")
        parts = [f"{report.source}: {phase}", self._elapsed(), *self._numbers("", counts), site]
        note = "" if crawl.paused or len(sites) > 1 else rough_time(report.queued, self._delay)
        if report.queued and not sites:
            note = str(crawl.context.run.wait or note)
        self._screen.show([_SEPARATOR.join(filter(None, parts)), *([f"  {note}"] if note else ())])

    def update_all(self, done: int, sources: int, going: Mapping[str, CrawlProgress]) -> None:
        """Show the numbers of running crawls in child processes, a line each."""
        if self._screen is None:
            return
        lines = [f"{done} of {sources} sources done · {self._elapsed()} · {len(going)} running"]
        for name, live in list(going.items())[:MAX_LINES]:
            parts = [
                "paused" if live.paused else "",
                *self._numbers(name, live.counts),
                live.site or live.wait,
            ]
            lines.append(f"  {name}: {_SEPARATOR.join(filter(None, parts))}")
        if len(going) > MAX_LINES:
            lines.append(f"  and {len(going) - MAX_LINES} more")
        self._screen.show(lines)

    def _rate(self, source: str) -> _Rate:
        return self._rates.setdefault(source, _Rate())

    def _elapsed(self) -> str:
        return _duration(self._clock() - self._began)

    def _numbers(self, source: str, counts: Mapping[str, int]) -> list[str]:
        """Return counts, rate and remaining time of a source; those that are not known are empty."""
        rate = self._rate(source)
        done, queued, failed = (counts.get(name, 0) for name in ("done", "queued", "failed"))
        rate.measure(self._clock(), done)
        return [
            f"{counts.get('fetched', 0):,} fetched",
            f"{counts.get('indexed', 0):,} indexed",
            f"{queued:,} queued",
            f"{failed:,} error{'s' * (failed != 1)}" if failed else "",
            f"{rate.now:,.0f} pages/s" if rate.now >= 1 or not rate.now else f"{rate.now:.1f} pages/s",
            f"{_duration(left)} for the queue" if (left := rate.left(queued)) >= 1 else "",
        ]


@dataclass(slots=True)
class _Rate:
    """The rate at which the URLs of a source are done."""

    now: float = 0.0
    """URLs a second, over the latest seconds."""
    _first: tuple[float, int] | None = None
    """The time and the URLs done of the first measurement."""
    _latest: deque[tuple[float, int]] = field(default_factory=deque)
    """Those of the measurements of the latest seconds; other processes count only once a second."""

    def measure(self, at: float, done: int) -> None:
        """Take the number of URLs done so far at a time."""
        if self._first is None:
            self._first = at, done
            self._latest.append(self._first)
        elif at - self._latest[-1][0] >= _RATE_INTERVAL:
            self._latest.append((at, done))
            while len(self._latest) > 2 and at - self._latest[1][0] >= _RATE_WINDOW:
                self._latest.popleft()
            before, number = self._latest[0]
            self.now = max(0, done - number) / (at - before)

    def left(self, queued: int) -> float:
        """Return the seconds that the queue takes at the rate since the beginning; 0 if nobody knows.

        That is so at first, and while nothing is done: how long that lasts says no rate.
        """
        if self._first is None or not self.now:
            return 0.0
        elapsed, finished = (now - then for now, then in zip(self._latest[-1], self._first, strict=True))
        return queued * elapsed / finished if elapsed >= _ENOUGH and finished > 0 else 0.0


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Plain:
    """Prints the latest lines every 30 seconds, for logs and pipes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._printed = clock()

    def start(self) -> None:
        """Print nothing before the first interval is over."""

    def is_due(self) -> bool:
        """Whether an interval is over."""
        return self._clock() - self._printed >= PLAIN_INTERVAL

    def show(self, lines: Iterable[str]) -> None:
        """Print the lines if it is time."""
        if self.is_due():
            self._printed = self._clock()
            for line in lines:
                click.echo(line, err=True)

    def stop(self) -> None:
        """Leave what was printed."""


class _Terminal:
    """Lines on standard error that are updated in place.

    Its libraries are imported here: 10 ms that a crawl without a terminal saves.
    """

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - see above
        from rich.live import Live  # noqa: PLC0415 - see above
        from rich.text import Text  # noqa: PLC0415 - see above

        live = Live(console=Console(stderr=True), refresh_per_second=5, transient=True)
        self.start, self.stop = live.start, live.stop
        self._update, self._text = live.update, Text

    def is_due(self) -> bool:
        """Return True: each line is seen."""
        return True

    def show(self, lines: list[str]) -> None:
        """Replace the lines, each cut to the width of the terminal."""
        self._update(self._text("\n".join(lines), no_wrap=True, overflow="ellipsis"))
