"""Measure the cost of features: `python benchmarks/features.py` prints the CPU microseconds that each adds per page.

    python benchmarks/features.py --only "near-duplicates" --repeat 5
    python benchmarks/features.py --write                   # and put the table into docs/performance.md

First crawls of the PostgreSQL manual, plain and with one feature on or off, run in turns, all processes included. Each
crawl with a feature is compared with the average of the plain ones before and after it, because the speed of a machine
drifts; the figure is the median of the turns. Features that are on by default are switched off, and the sign of the
difference is reversed.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from measuring.command_line import manual_of, parser_of, show_blocks  # noqa: E402 - after the path is set
from measuring.ours import crawled, definition, ultracrawl  # noqa: E402
from measuring.results import Stamp  # noqa: E402
from support.nginx import nginx_site  # noqa: E402


@dataclass(frozen=True)
class Feature:
    """Options of a source or the project that switch a feature on, or off if it is on by default."""

    source: str = ""
    project: str = ""
    is_default: bool = False


FEATURES = {
    "texts of links": Feature(project="index: {anchors: false}", is_default=True),
    "main content found": Feature('content: {main: "off"}', is_default=True),
    "robots.txt, META robots": Feature("robots: {obey: false, meta: false}", is_default=True),
    "sitemaps looked for": Feature("sitemaps: {use: false}", is_default=True),
    "duplicates": Feature("duplicates: {detect: false}", is_default=True),
    "near-duplicates": Feature("duplicates: {near: true}"),
    "languages detected": Feature("languages: {trust: both}"),
    "content by selectors": Feature('content: {exclude: ".navheader, .navfooter"}'),
    "feeds among links": Feature("feeds: {discover: true}"),
    "documents kept": Feature("storage: {keep: true}"),
    "logs of links, downloads and items": Feature("log: {screened: true, fetch: true, postprocess: text}"),
    "lists of links": Feature("storage: {link_lists: var/links}"),
}


def cpu_a_page(url: str, feature: Feature) -> float:
    """Crawl into an empty folder; returns CPU microseconds per page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = definition(url, source=feature.source, project=feature.project)
        (folder / "ultracrawl.yaml").write_text(text)
        return crawled(ultracrawl(folder, "crawl", "--json")).cpu_ms_a_page * 1000


def measure(manual: Path, names: Sequence[str], repeat: int) -> dict[str, list[float]]:
    """Return the CPU microseconds per page that each feature adds in each turn."""
    found: dict[str, list[float]] = defaultdict(list)
    with nginx_site(manual) as server:
        url = f"{server.url}/index.html"
        before = cpu_a_page(url, Feature())
        for turn in range(repeat):
            for name in names:
                feature = FEATURES[name]
                cost, after = cpu_a_page(url, feature), cpu_a_page(url, Feature())
                more = cost - (before + after) / 2
                found[name].append(-more if feature.is_default else more)
                print(f"{turn + 1}/{repeat} {name}: {found[name][-1]:+.0f} of {before:.0f}", file=sys.stderr)
                before = after
    return found


def table(added: Mapping[str, Sequence[float]]) -> str:
    """Return the table in Markdown."""
    lines = ["| feature | by itself | CPU µs a page | lowest, highest turn |", "| --- | --- | --- | --- |"]
    for name, values in added.items():
        usual = "on" if FEATURES[name].is_default else "off"
        lines.append(f"| {name} | {usual} | {median(values):+.0f} | {min(values):+.0f}, {max(values):+.0f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; with `--write` also update the documentation."""
    parser = parser_of(__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=FEATURES,
        default=list(FEATURES),
        metavar="NAME",
        help=", ".join(FEATURES),
    )
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args(arguments)
    stamp = Stamp.of_now()
    text = table(measure(manual_of("postgresql", options.packages), options.only, options.repeat))
    show_blocks({"features": f"{stamp}:\n\n{text}"}, write=options.write)


if __name__ == "__main__":
    main()
