"""Crawl to searchable, measured against a plain CrawlSpider with Whoosh's stock writer in the same run.

    python benchmarks/crawl.py                       # Debian's postgresql-doc-15
    python benchmarks/crawl.py --dir DIR --start index.html --repeat 3 --no-baseline

Serves the directory with nginx on loopback, crawls it as a user would (`ultracrawl crawl -c FILE --json` in a
process of its own: start-up, state, robots, checksums, attributes, index commit, all inside the time), crawls
it again unchanged ("second"), once more without making documents ("no_index": fetch, parse, links and state
only), and prints one JSON object. Wall times move by 15 % between runs; compare ratios and CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.nginx import nginx_site  # noqa: E402 - after the path is set

CONFIG = """
sources:
  site:
    type: web
    start_urls: [{url}]
    {extra}
    politeness: {{delay: 0, concurrency: 32}}
    boundary:
      networks: [127.0.0.0/8]
"""


PAGES = ("NEW", "MODIFIED", "UNMODIFIED", "NOT_MODIFIED", "NOT_INDEXED")


class Sampler:
    """Samples CPU seconds and memory of a process and its children; peaks are of the sum and of each."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self.peak_total = 0
        self.peak_main = 0
        self.cpu: dict[int, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop)
        self._thread.start()

    def _loop(self) -> None:
        while not self._stop.wait(0.05):
            self._sample()

    def _sample(self) -> None:
        try:
            family = [self._process, *self._process.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        total = 0
        for process in family:
            try:
                rss = process.memory_info().rss
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += rss
            self.cpu[process.pid] = times.user + times.system
            if process.pid == self._process.pid:
                self.peak_main = max(self.peak_main, rss)
        self.peak_total = max(self.peak_total, total)

    def end(self) -> None:
        self._stop.set()
        self._thread.join()


def run(command: list[str], cwd: Path) -> tuple[str, dict[str, Any]]:
    """Run a command; returns its standard output and what it cost."""
    started = time.perf_counter()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "benchmarks")])}
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True, env=env)
    sampler = Sampler(process.pid)
    output, _ = process.communicate()
    sampler.end()
    seconds = time.perf_counter() - started
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command} ended with {process.returncode}")
    main = sampler.cpu.pop(process.pid, 0.0)
    return output, {
        "seconds": round(seconds, 2),
        "cpu_main": round(main, 2),
        "cpu_children": round(sum(sampler.cpu.values()), 2),
        "peak_mb_main": sampler.peak_main >> 20,
        "peak_mb_total": sampler.peak_total >> 20,
    }


def crawl(directory: Path) -> dict[str, Any]:
    output, cost = run([sys.executable, "-m", "ultracrawl", "crawl", "--json"], directory)
    report = json.loads(output)["runs"][0]
    pages = sum(report["outcomes"].get(name, 0) for name in PAGES)
    return {
        **cost,
        "pages": pages,
        "pages_per_second": round(pages / cost["seconds"], 1),
        "inner_pages_per_second": round(pages / report["seconds"], 1),
        "us_cpu_per_page_main": round(cost["cpu_main"] / max(pages, 1) * 1e6),
        "us_cpu_per_page_index": round(cost["cpu_children"] / max(pages, 1) * 1e6),
        "outcomes": report["outcomes"],
        "indexed": report["indexed"],
    }


def measure(url: str, *, baseline: bool) -> dict[str, Any]:
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        definition = directory / "ultracrawl.yaml"
        definition.write_text(CONFIG.format(url=url, extra=""))
        result["first"] = crawl(directory)
        result["second"] = crawl(directory)
        shutil.rmtree(directory / "var")
        definition.write_text(CONFIG.format(url=url, extra="class: no_index.NoIndex"))
        result["no_index"] = crawl(directory)
        if baseline:
            script = str(ROOT / "benchmarks/baseline.py")
            output, cost = run([sys.executable, script, url, str(directory / "plain")], directory)
            result["baseline"] = {**json.loads(output.splitlines()[-1]), **cost}
            ratio = result["first"]["pages_per_second"] / result["baseline"]["pages_per_second"]
            result["times_baseline"] = round(ratio, 2)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=Path("/usr/share/doc/postgresql-doc-15/html"))
    parser.add_argument("--start", default="index.html")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--no-baseline", action="store_true")
    options = parser.parse_args()
    with nginx_site(options.dir) as site:
        url = f"{site.url.rstrip('/')}/{options.start}"
        runs = [measure(url, baseline=not options.no_baseline) for _ in range(options.repeat)]
    print(json.dumps({"site": str(options.dir), "runs": runs}, indent=2))


if __name__ == "__main__":
    main()
