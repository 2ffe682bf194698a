"""Measure the cost of hooks per page of a plain source: `python benchmarks/hooks.py FOLDER [--start PAGE]`.

Serves a folder of HTML with nginx on loopback, crawls it in this process with every hook call timed, and prints JSON:
microseconds per page, in total and by hook, and the share of the calls alone, measured with features that do nothing.
The time of reading the clock is subtracted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.nginx import nginx_site

from ultracrawl.run import RunningCrawl
from ultracrawl.run.hooks import Feature
from ultracrawl.service.run import run_source
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.loading.loaded import require

CONFIG = """
sources:
  site: {{type: web, start_urls: [{url}], politeness: {{delay: 0}}, boundary: {{networks: [127.0.0.0/8]}}}}
"""

READS = 100_000
PER_PAGE: tuple[Callable[..., Any], ...] = (
    Feature.response_received,
    Feature.links_found,
    Feature.links_resolved,
    Feature.visit_ended,
    Feature.unchanged_skipped,
)
"""Hooks that are called per page; those per link are bound when a crawl begins, the others are called seldom."""


class _Idle:
    """A feature that does nothing."""

    def visit_ended(self, visit: object) -> None:
        """Do nothing."""


class Meter:
    """Wraps the hooks of a crawl after its start, and sums up their times."""

    def __init__(self) -> None:
        self.nanoseconds: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.pages = 0
        self.crawl: RunningCrawl | None = None
        begun = perf_counter_ns()
        for _ in range(READS):
            perf_counter_ns()
        self._clock = (perf_counter_ns() - begun) / READS

    def __call__(self, crawl: RunningCrawl) -> None:
        """Wrap the hooks of a crawl once; called a few times a second."""
        if self.crawl is not None:
            return
        self.crawl = crawl
        hooks = crawl.context.hooks
        for hook in PER_PAGE:
            name = hook.__name__
            hooks[hook] = tuple(
                self._timed(f"{name} {getattr(call, '__qualname__', call)}", call) for call in hooks[hook]
            )
        hooks.call(Feature.visit_ended, self._count)

    def _count(self, _: object) -> None:
        self.pages += 1

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            begun = perf_counter_ns()
            try:
                return call(*args, **kwargs)
            finally:
                self.nanoseconds[name] += perf_counter_ns() - begun
                self.calls[name] += 1

        return timed

    def _calling(self) -> float:
        """Return the nanoseconds of one hook call of a feature that does nothing."""
        calls = [_Idle().visit_ended]
        begun = perf_counter_ns()
        for _ in range(READS):
            for call in calls:
                call(None)
        return (perf_counter_ns() - begun) / READS

    def result(self) -> dict[str, Any]:
        """Return microseconds per page, of all hooks and of each feature in them."""
        pages = max(self.pages, 1)
        spent = {
            name: (ns - self.calls[name] * self._clock) / pages / 1000
            for name, ns in self.nanoseconds.items()
        }
        return {
            "pages": self.pages,
            "microseconds_a_page": round(sum(spent.values()), 2),
            "of_these_for_calling": round(self._calling() * sum(self.calls.values()) / pages / 1000, 2),
            "by_feature": {name: round(one, 2) for name, one in sorted(spent.items())},
            "calls_a_page": round(sum(self.calls.values()) / pages, 2),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--start", default="index.html")
    options = parser.parse_args()
    meter = Meter()
    with tempfile.TemporaryDirectory() as folder, nginx_site(options.folder) as site:
        definition = Path(folder, "ultracrawl.yaml")
        definition.write_text(CONFIG.format(url=f"{site.url}/{options.start}"))
        project = require(read_definitions(definition))
        run_source(project, *project.sources.values(), watcher=meter)
    print(json.dumps(meter.result(), indent=2))


if __name__ == "__main__":
    main()
