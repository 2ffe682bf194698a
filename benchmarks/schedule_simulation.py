"""Simulate the frontier's schedule: 1,000 sites x 1,000 URLs with delays, on a virtual clock, without network.

    python benchmarks/schedule_simulation.py [--sites 1000 --urls 1000] [--json FILE] [--plot FILE.png]

Every site has its own delay (0.5 to 2 s), every response takes 0.05 to 1.5 s, and the downloader runs any number of
requests. The ideal schedule of a site is one request per delay, from 0 on. Prints one JSON object: how much longer the
achieved schedule is, the smallest interval of two requests relative to the delay, the spread of the sites half way, and
the peak memory. `--plot` needs matplotlib (`pip install .[bench]`).
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import time
import tracemalloc
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ultracrawl.rules.frontier.frontier import Frontier, FrontierLimits
from ultracrawl.rules.frontier.politeness.pace import Pace

DELAYS = (0.5, 0.75, 1.0, 1.5, 2.0)
CAPACITY = 50_000


class Entry(NamedTuple):
    """A URL of a site, by number."""

    site: str
    number: int


@dataclass(slots=True)
class Store:
    """A replacement of the state store: the queue of every site."""

    urls: int
    taken: dict[str, int] = field(default_factory=dict)

    def next(self, site: str, limit: int) -> list[Entry]:
        first = self.taken.get(site, 0)
        last = min(first + limit, self.urls)
        self.taken[site] = last
        return [Entry(site, number) for number in range(first, last)]


@dataclass(slots=True)
class Course:
    """The requests of a simulated crawl."""

    delays: dict[str, float]
    starts: dict[str, list[float]]
    most_in_memory: int = 0
    pops: int = 0


def simulate(sites: int, urls: int, seed: int = 1) -> Course:
    """Crawl all sites on a virtual clock that advances from event to event."""
    dice = random.Random(seed)
    course = Course({f"s{n}.example.com": DELAYS[n % len(DELAYS)] for n in range(sites)}, {})
    frontier: Frontier[Entry] = Frontier(Pace(1.0, concurrency=8), FrontierLimits(capacity=CAPACITY))
    store = Store(urls)
    for name, delay in course.delays.items():
        course.starts[name] = []
        frontier.set_delay(name, delay)
        frontier.mark_stored(name)
    now, out = 0.0, list[tuple[float, str]]()
    while frontier.pending or out:
        while frontier.hungry:
            name = next(iter(frontier.hungry))
            entries = store.next(name, 40)
            frontier.refill_site(name, entries, more=store.taken[name] < urls)
        entry = frontier.pop_entry(now)
        if entry is not None:
            course.pops += 1
            course.starts[entry.site].append(now)
            course.most_in_memory = max(course.most_in_memory, len(frontier))
            heapq.heappush(out, (now + dice.uniform(0.05, 1.5), entry.site))
            continue
        at = frontier.next_at()
        if out and (at is None or out[0][0] <= at):
            now, name = heapq.heappop(out)
            frontier.finish_entry(name)
        elif at is not None:
            now = at
    return course


def judge(course: Course, urls: int) -> dict[str, Any]:
    """Compare a course with the ideal schedule."""
    late, closest, shares = [], [], []
    for name, starts in course.starts.items():
        delay = course.delays[name]
        ideal = delay * (urls - 1)
        late.append((starts[-1] - ideal) / ideal)
        closest.append(min(b - a for a, b in pairwise(starts)) / delay)
        shares.append(starts[urls // 2] / (delay * (urls // 2)))
    return {
        "sites": len(course.starts),
        "urls": sum(map(len, course.starts.values())),
        "longer_than_ideal_percent": round(100 * max(late), 4),
        "closest_requests_in_delays": round(min(closest), 6),
        "half_way_in_ideal_times": [round(min(shares), 4), round(max(shares), 4)],
        "most_entries_in_memory": course.most_in_memory,
    }


def plot(course: Course, urls: int, path: Path) -> None:
    """Plot the requests over time: all sites, a line each, and the first requests of some of them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    colours = dict(zip(DELAYS, plt.get_cmap("viridis")([0.0, 0.22, 0.44, 0.66, 0.88]), strict=True))
    for name, starts in course.starts.items():
        left.plot(starts, range(1, len(starts) + 1), color=colours[course.delays[name]], alpha=0.2, lw=0.8)
    for delay, colour in colours.items():
        left.plot([], [], color=colour, lw=3, label=f"delay {delay:g} s")
        left.plot([0, delay * (urls - 1)], [1, urls], color="black", lw=1, ls=":")
    left.plot([], [], color="black", lw=1, ls=":", label="ideal")
    left.set(
        title=f"{len(course.starts):,} sites, a line each", xlabel="seconds", ylabel="requests of a site"
    )
    left.legend(loc="lower right")
    some = list(course.starts)[:15]
    for row, name in enumerate(some):
        times = [at for at in course.starts[name] if at <= 20]
        right.plot(times, [row] * len(times), "|", ms=11, mew=1.8, color=colours[course.delays[name]])
    right.set(
        title="the first 20 seconds of 15 sites", xlabel="seconds", ylabel="site", yticks=range(len(some))
    )
    right.set_yticklabels([f"{name.partition('.')[0]} ({course.delays[name]:g} s)" for name in some])
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=int, default=1000)
    parser.add_argument("--urls", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    tracemalloc.start()
    simulate(given.sites, 20)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    started = time.perf_counter()
    course = simulate(given.sites, given.urls)
    seconds = time.perf_counter() - started
    result = judge(course, given.urls)
    result.update(seconds=round(seconds, 1), us_per_url=round(seconds / course.pops * 1e6, 1))
    result["peak_mb_with_20_urls_a_site"] = round(memory / 2**20, 1)
    text = json.dumps(result, indent=2)
    print(text)
    if given.json:
        given.json.write_text(text + "\n")
    if given.plot:
        plot(course, given.urls, given.plot)


if __name__ == "__main__":
    main()
