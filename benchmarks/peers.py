"""Compare the speed with other crawlers, on two Debian manuals: `python benchmarks/peers.py` prints the tables.

    python benchmarks/peers.py --corpora pg --repeat 1      # the small manual once, in about a minute
    python benchmarks/peers.py --only whoosh tantivy stock  # some of the crawlers
    python benchmarks/peers.py --quick --write              # in six minutes; put tables and plot into the documentation
    python benchmarks/peers.py --from docs/images/peers.json --write   # the same without measuring

nginx serves each manual on loopback. All crawlers run in turns, each in a process and a folder of its own; the figures
are those of the best run (least CPU time), including process start-up. Built programs (Colly with go, spider with
cargo, Crawlee with pip) are kept in var/peers; unavailable ones are skipped with a message. Nothing else should run on
the machine. Ratios are those of one session: with `--quick` none to plain Scrapy over jdk.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from judging.corpora import CORPORA as MANUALS  # noqa: E402 - after the path is set
from measuring import plot, table  # noqa: E402
from measuring.command_line import parser_of  # noqa: E402
from measuring.cost import CommandError  # noqa: E402
from measuring.others import OTHERS, NotAvailableError  # noqa: E402
from measuring.ours import OURS  # noqa: E402
from measuring.results import Results, Stamp  # noqa: E402
from support.nginx import nginx_site  # noqa: E402

CORPORA = {"pg": MANUALS["postgresql"], "jdk": MANUALS["java-all"]}
REPEATS = {"pg": 3, "jdk": 1}
QUICK_REPEATS = {"pg": 2, "jdk": 1}
QUICK_OMISSIONS = {"jdk": ("stock", "crawlee", "no_anchors")}
"""What `--quick` leaves out: plain Scrapy with Whoosh takes as long over jdk as all others together."""
CONTENDERS = {contender.name: contender for contender in (*OURS, *OTHERS)}
STORED = ROOT / "docs" / "images" / "peers.json"
PICTURE = ROOT / "docs" / "images" / "peers.svg"


def say(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def available(names: Sequence[str], place: Path) -> list[str]:
    """Build the chosen crawlers; return the names of those that can run."""
    found = []
    for name in names:
        try:
            CONTENDERS[name].prepare(place)
        except NotAvailableError as missing:
            say(f"{name}: left out, {missing}")
        else:
            found.append(name)
    return found


def measure(results: Results, corpus: str, manual: Path, names: Sequence[str], repeat: int) -> None:
    """Run all crawlers in turns over a manual."""
    with nginx_site(manual) as server:
        for turn in range(repeat):
            for name in names:
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        for row, one in CONTENDERS[name].measure(f"{server.url}/index.html", Path(folder)):
                            results.add(corpus, row, one)
                            say(f"{corpus} {turn + 1}/{repeat} {row}: {one}")
                    except CommandError as failed:
                        say(f"{corpus} {turn + 1}/{repeat} {name}: {failed}")


def reading(manual: Path) -> tuple[float, float]:
    """Return CPU microseconds of reading a page, and of the same work by the parser alone."""
    command = [sys.executable, str(ROOT / "benchmarks" / "parse.py"), str(manual), "600"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    found = json.loads(said)
    return found["parse_html"], found["floor"]


def compare(options: argparse.Namespace) -> Results:
    """Measure the chosen crawlers."""
    results = Results(Stamp.of_now())
    names = available(options.only or list(CONTENDERS), options.builds.absolute())
    for corpus in options.corpora:
        manual = CORPORA[corpus].manual(options.packages)
        if manual is None:
            say(f"{corpus}: left out, {CORPORA[corpus].package} cannot be had")
            continue
        omitted = QUICK_OMISSIONS.get(corpus, ()) if options.quick else ()
        repeat = options.repeat or (QUICK_REPEATS if options.quick else REPEATS)[corpus]
        measure(results, corpus, manual, [name for name in names if name not in omitted], repeat)
        if not options.only:
            results.reading[corpus] = reading(manual)
    return results


def write(results: Results) -> None:
    """Write the results to the documentation, and draw the plot."""
    STORED.write_text(json.dumps(results.to_json(), indent=1) + "\n")
    plot.draw(results, PICTURE)
    blocks = {
        "measurements": f"{results.stamp}. {table.method(results)}.\n\n{table.measurements(results)}",
        "commands": table.commands(results),
        "ratios": table.ratios(results),
        "aims": table.verdicts(results),
    }
    table.replace_blocks(ROOT / "docs" / "performance.md", blocks)
    table.replace_blocks(ROOT / "README.md", {"speed": table.summary(results, next(iter(results.runs)))})


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; with `--write` also update the documentation."""
    parser = parser_of(__doc__)
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--repeat", type=int, help="runs of each crawler (default: 3 over pg, 1 over jdk)")
    parser.add_argument(
        "--quick", action="store_true", help="about six minutes: fewer runs, not the slowest on jdk"
    )
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, metavar="NAME", help=", ".join(CONTENDERS))
    parser.add_argument("--json", action="store_true", help="print all runs as JSON")
    parser.add_argument("--from", dest="stored", type=Path, help="take the runs from this file")
    parser.add_argument("--builds", type=Path, default=Path("var/peers"), help="for other crawlers")
    options = parser.parse_args(arguments)
    stored = options.stored
    results = Results.from_json(json.loads(stored.read_text())) if stored else compare(options)
    if options.write:
        write(results)
    print(json.dumps(results.to_json(), indent=1) if options.json else table.report(results))


if __name__ == "__main__":
    main()
