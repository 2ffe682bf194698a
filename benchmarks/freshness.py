"""Compare recrawl policies by the freshness of a copy: a day of a changing site, simulated on a virtual clock.

    python benchmarks/freshness.py [--pages 2000] [--seeds 5] [--json FILE] [--plot FILE.png]

Pages change independently of each other (Poisson), at rates of four classes. Each policy has the same number of
requests: in every minor cycle as many as `AdaptiveRule.coverage` allows, all for known pages, after one fetch of every
page at the start. A page is fresh if it did not change since its last fetch; its age is the time since its first
unfetched change. Averages are over all pages and 24 hours. Half of the pages send Last-Modified.

Policies: `fixed` (every page at the same interval), `adaptive` (the rule of `refresh.adaptive` with its defaults,
which learns from its visits), `score` (the same with `aim: score`), `oracle` (the gain of a visit with the true rates).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import mean, stdev
from typing import Any

from ultracrawl.rules.recrawl.adaptive import (
    AdaptiveRule,
    Aim,
    KnownPage,
    Observation,
    Scorer,
    SiteSize,
    gain,
)

HOUR = 3600.0
LIFE = 24 * HOUR
CYCLE = 4 * HOUR
START = 1_700_000_000.0
CLASSES = {
    "15 min": (0.1, HOUR / 4),
    "2 h": (0.2, 2 * HOUR),
    "1 day": (0.3, 24 * HOUR),
    "20 days": (0.4, 480 * HOUR),
}
"""Share of the pages, and seconds between two changes on average."""
SITE = "a.example"
RULE = AdaptiveRule(Scorer(CYCLE, uses_sitemaps=False))


@dataclass(slots=True)
class SimulatedPage:
    """A page with its changes and visit history."""

    known: KnownPage
    kind: str
    interval: float
    dated: bool
    changes: list[float]
    """Times of its changes during the simulation, and of the last one before."""
    at: int = 1
    """Index of the first unfetched change."""
    fresh: float = 0.0
    age: float = 0.0

    def pass_time(self, since: float, now: float) -> tuple[float, float]:
        """Return seconds of freshness, and of age times time, in a stretch without a visit."""
        stale = self.changes[self.at] if self.at < len(self.changes) else float("inf")
        fresh = min(max(stale - since, 0.0), now - since)
        begun, ended = max(since, stale) - stale, now - stale
        return fresh, (ended**2 - begun**2) / 2 if ended > 0 else 0.0

    def visit(self, now: float) -> None:
        """Fetch the page."""
        before = self.at
        while self.at < len(self.changes) and self.changes[self.at] <= now:
            self.at += 1
        modified = self.changes[self.at - 1] if self.dated else 0.0
        seen = Observation(self.known.key, now, self.at > before, modified, True)
        history = self.known.history.after(seen)
        self.known = self.known._replace(last_fetched=now, markup=True, history=history)


Policy = Callable[[list[SimulatedPage], float], list[int]]
"""Returns the numbers of the pages to visit in a minor cycle."""


def make_site(number: int, chance: Random) -> list[SimulatedPage]:
    """Create a site; every page is fetched at the start."""
    kinds = [kind for kind, (share, _) in CLASSES.items() for _ in range(round(share * number))]
    chance.shuffle(kinds)
    pages = []
    for key, kind in enumerate(kinds):
        interval = CLASSES[kind][1]
        moment, changes = START, [START - chance.expovariate(1 / interval)]
        while (moment := moment + chance.expovariate(1 / interval)) < START + LIFE:
            changes.append(moment)
        depth = chance.randint(1, 5)
        ending = chance.choice(["", ".html", "/"])
        url = f"http://{SITE}/" + "/".join(["part"] * chance.randint(0, 4) + [f"{key}{ending}"])
        page = SimulatedPage(KnownPage(key, url, SITE, depth), kind, interval, chance.random() < 0.5, changes)
        page.visit(START)
        pages.append(page)
    return pages


def fixed(pages: list[SimulatedPage], _: float) -> list[int]:
    """Visit the pages with the oldest visits: every page at the same interval."""
    order = sorted(range(len(pages)), key=lambda number: (pages[number].known.last_fetched, number))
    return order[: RULE.coverage(len(pages))]


def by_rule(rule: AdaptiveRule) -> Policy:
    """Return the policy of an adaptive rule."""

    def policy(pages: list[SimulatedPage], now: float) -> list[int]:
        choice = rule.choose((page.known for page in pages), {SITE: SiteSize(len(pages), 0)}, now)
        return [one.key for one in choice.pages]

    return policy


def oracle(pages: list[SimulatedPage], now: float) -> list[int]:
    """Visit the pages with the highest gain by the true rates."""
    worth = [gain(page.interval, now - page.known.last_fetched) for page in pages]
    return sorted(range(len(pages)), key=lambda number: -worth[number])[: RULE.coverage(len(pages))]


POLICIES: dict[str, Policy] = {
    "fixed": fixed,
    "adaptive": by_rule(RULE),
    "score": by_rule(replace(RULE, aim=Aim.SCORE)),
    "oracle": oracle,
}


@dataclass(slots=True)
class Life:
    """Results of a simulation."""

    fetches: int = 0
    freshness: list[float] = field(default_factory=list)
    """Average over the pages by minor cycle."""
    age: list[float] = field(default_factory=list)
    """Average age in hours by minor cycle."""
    by_class: dict[str, float] = field(default_factory=dict)


def live(policy: Policy, number: int, seed: int) -> Life:
    """Simulate a day of a site under a policy; the same seed gives the same changes."""
    pages = make_site(number, Random(seed))
    life, step = Life(), CYCLE / RULE.minors
    for turn in range(round(LIFE / step)):
        now = START + turn * step
        for chosen in policy(pages, now) if turn else ():
            pages[chosen].visit(now)
            life.fetches += 1
        parts = [page.pass_time(now, now + step) for page in pages]
        for page, (fresh, age) in zip(pages, parts, strict=True):
            page.fresh += fresh
            page.age += age
        life.freshness.append(sum(fresh for fresh, _ in parts) / step / number)
        life.age.append(sum(age for _, age in parts) / step / number / HOUR)
    for kind in CLASSES:
        life.by_class[kind] = mean(page.fresh / LIFE for page in pages if page.kind == kind)
    return life


def measure(number: int, seeds: int) -> dict[str, Any]:
    """Return the averages of every policy over several sites."""
    result: dict[str, Any] = {}
    for name, policy in POLICIES.items():
        lives = [live(policy, number, seed) for seed in range(seeds)]
        freshness = [mean(one.freshness) for one in lives]
        result[name] = {
            "fetches": lives[0].fetches,
            "freshness": round(mean(freshness), 4),
            "freshness_stdev": round(stdev(freshness), 4) if seeds > 1 else 0.0,
            "age_hours": round(mean(mean(one.age) for one in lives), 3),
            "by_class": {kind: round(mean(one.by_class[kind] for one in lives), 3) for kind in CLASSES},
            "freshness_over_time": over_time(one.freshness for one in lives),
            "age_over_time": over_time(one.age for one in lives),
        }
    head = {"pages": number, "seeds": seeds, "hours": LIFE / HOUR}
    return {**head, "minor_cycle_hours": CYCLE / RULE.minors / HOUR, "policies": result}


def over_time(lives: Iterable[list[float]]) -> list[float]:
    """Return the average of several simulations by minor cycle."""
    return [round(mean(values), 4) for values in zip(*lives, strict=True)]


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw freshness and age over the day, and freshness by class of page."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), constrained_layout=True)
    step = result["minor_cycle_hours"]
    for number, (name, numbers) in enumerate(result["policies"].items()):
        style = {"label": name, "color": f"C{number}", "linestyle": ":" if name == "oracle" else "-"}
        hours = [step * (turn + 1) for turn in range(len(numbers["freshness_over_time"]))]
        left.plot(hours, numbers["freshness_over_time"], **style)
        middle.plot(hours, numbers["age_over_time"], **style)
        places = [place + 0.2 * (number - 1.5) for place in range(len(CLASSES))]
        right.bar(places, numbers["by_class"].values(), 0.2, color=f"C{number}", label=name)
    left.set(title="Freshness (part of the pages that is up to date)", xlabel="hours")
    middle.set(title="Age (hours since the first change not fetched)", xlabel="hours")
    right.set(title="Freshness by how often a page changes")
    right.set_xticks(range(len(CLASSES)), CLASSES)
    left.legend()
    for axes in (left, middle, right):
        axes.grid(alpha=0.3)
        axes.set_ylim(bottom=0)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    result = measure(options.pages, options.seeds)
    text = json.dumps(result, indent=2)
    if options.json:
        options.json.write_text(text + "\n")
    if options.plot:
        plot(result, options.plot)
    print(text)


if __name__ == "__main__":
    main()
