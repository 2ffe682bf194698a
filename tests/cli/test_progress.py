"""What a crawl shows while it works: a line a source, and outside a terminal a line now and then."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar, cast

import pytest
from support.sentences import sentence

from ultracrawl.cli.crawl.progress import MAX_LINES, PLAIN_INTERVAL, Progress
from ultracrawl.cli.terminal import rough_time
from ultracrawl.model import RunReport, UrlOutcome
from ultracrawl.run import RunningCrawl
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.service.orders import CrawlProgress
from ultracrawl.stores.control_channel import SiteWait


class Screen:
    """Keeps the lines shown last."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def start(self) -> None: ...

    def is_due(self) -> bool:
        return True

    def show(self, lines: list[str]) -> None:
        self.lines = lines

    def stop(self) -> None: ...


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def live(done: int, queued: int = 0, failed: int = 0, *, paused: bool = False) -> CrawlProgress:
    counts = {"fetched": done, "indexed": done, "queued": queued, "done": done, "failed": failed}
    return CrawlProgress("1", paused, site="http://h", counts=counts)


def test_each_source_has_a_line_with_rate_errors_and_what_is_left() -> None:
    screen, clock = Screen(), Clock()
    progress = Progress(enabled=True, screen=screen, clock=clock)
    progress.update_all(0, 2, {"a": live(0, 100), "b": live(3, paused=True)})
    clock.now += 10
    progress.update_all(0, 2, {"a": live(1200, 600, 1), "b": live(3, paused=True)})
    assert screen.lines == [
        "0 of 2 sources done · 0:10 · 2 running",
        sentence("progress.line"),
        "  b: paused · 3 fetched · 3 indexed · 0 queued · 0 pages/s · http://h",
    ]


def test_a_crawl_that_does_nothing_has_no_estimate_and_says_what_it_waits_for() -> None:
    screen, clock = Screen(), Clock()
    progress = Progress(enabled=True, screen=screen, clock=clock)
    wait = str(SiteWait("h", "refused", 0.0))
    lengths = []
    for done in (0, 1200, 1200, 1200):
        progress.update_all(0, 1, {"a": replace(live(done, 600), site="", wait=wait)})
        lengths.append(len(screen.lines[1].split(" · ")))
        clock.now += 10
    assert lengths == [5, 6, 5, 5], "the estimate is what they differ by"
    assert screen.lines[1].endswith(wait)


def test_what_the_delay_makes_slow_has_a_rough_time() -> None:
    counted = RunCounters("s")
    visits = {1: SimpleNamespace(entry=SimpleNamespace(site="h"))}
    context = SimpleNamespace(
        counters=counted,
        visits=visits,
        run=(run := SimpleNamespace(wait=None)),
        report=SimpleNamespace(source="s", fetched=1, indexed=1, queued=1200, outcomes=counted.outcomes),
    )
    crawl = SimpleNamespace(context=context, paused=False)

    def notes(delay: float) -> list[str]:
        screen = Screen()
        Progress(enabled=True, screen=screen, clock=Clock(), delay=delay).update(cast(RunningCrawl, crawl))
        return screen.lines[1:]

    assert notes(0.5) == [sentence("progress.rough_time")]
    assert notes(0.0) == [], "no delay is known, or it is that of several sites"
    assert notes(0.1) == [], "the server decides"
    visits[2] = SimpleNamespace(entry=SimpleNamespace(site="other"))
    assert notes(0.5) == []
    visits.clear()
    assert notes(0.5) == [sentence("progress.rough_time")], "between two requests none is in flight"
    run.wait = wait = SiteWait("h", "refused", 0.0)
    assert notes(0.5) == [f"  {wait}"]
    visits[1] = SimpleNamespace(entry=SimpleNamespace(site="h"))
    assert notes(0.0) == [], "it is asked again"
    run.wait = None
    context.report.queued = 30
    assert notes(0.5) == [], "it is soon over"


def test_the_rough_time_is_in_minutes_or_hours() -> None:
    assert rough_time(240, 0.5) == sentence("rough_time.minutes")
    assert rough_time(1000, 1.0) == sentence("rough_time.one_a_second")
    assert rough_time(1000, 5.0) == sentence("rough_time.slow")
    assert rough_time(100_000, 0.5) == sentence("rough_time.hours")


def test_a_source_without_a_site_ends_with_its_numbers() -> None:
    screen = Screen()
    progress = Progress(enabled=True, screen=screen, clock=Clock())
    progress.update_all(0, 1, {"a": CrawlProgress("1", False, site="", counts={"fetched": 3})})
    assert screen.lines[1] == "  a: 3 fetched · 0 indexed · 0 queued · 0 pages/s"


def test_the_rate_is_steady_although_processes_count_once_a_second() -> None:
    screen, clock = Screen(), Clock()
    progress = Progress(enabled=True, screen=screen, clock=clock)
    rates = set[str]()
    for tick in range(100):
        clock.now += 0.6
        progress.update_all(0, 2, {"a": live(30 * int(clock.now - 100), 900)})
        if tick > 20:
            rates.add(screen.lines[1].split(" · ")[3])
    numbers = {int(rate.split()[0]) for rate in rates}
    assert min(numbers) >= 24
    assert max(numbers) <= 36


def test_many_sources_fit_on_the_screen() -> None:
    screen = Screen()
    running = {f"s{number}": live(1) for number in range(MAX_LINES + 3)}
    Progress(enabled=True, screen=screen, clock=Clock()).update_all(2, 40, running)
    assert (len(screen.lines), screen.lines[-1]) == (MAX_LINES + 2, "  and 3 more")


def test_outside_a_terminal_a_line_is_printed_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    progress = Progress(enabled=True, clock=clock)
    for seconds in (0, PLAIN_INTERVAL - 1, 1, 1, PLAIN_INTERVAL):
        clock.now += seconds
        progress.update_all(0, 1, {"a": live(1)})
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.split(" · ")[1] for line in printed.err.splitlines() if "sources done" in line] == [
        "0:30",
        "1:01",
    ]


def test_nothing_is_shown_unless_it_is_enabled(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    progress = Progress(enabled=False, clock=clock)
    clock.now += 2 * PLAIN_INTERVAL
    progress.update_all(0, 1, {"a": live(1)})
    assert capsys.readouterr() == ("", "")


def test_no_report_is_made_that_nobody_sees() -> None:
    """Once an interval a line, with the rate of the latest seconds; a report copies all counters."""
    made: list[float] = []
    clock = Clock()
    counted = RunCounters("s")

    class Context:
        counters = counted
        visits: ClassVar[dict[int, object]] = {}
        run = SimpleNamespace(wait=None)

        @property
        def report(self) -> RunReport:
            made.append(clock.now)
            return counted.as_report()

    crawl = cast(RunningCrawl, SimpleNamespace(context=Context(), paused=False))
    progress = Progress(enabled=True, clock=clock)
    began = clock.now
    for _ in range(2 * int(PLAIN_INTERVAL)):
        clock.now += 1
        counted.outcomes[UrlOutcome.NEW] += 3
        progress.update(crawl)
    assert [at - began for at in made] == [PLAIN_INTERVAL, 2 * PLAIN_INTERVAL]
