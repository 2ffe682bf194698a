"""Compare the cost of pages that scripts write: `python benchmarks/rendering.py [--rounds 3] [--open 2 4] [--write]`.

Serves pages of React on loopback, each of which asks for its data, and opens them with ultracrawl, scrapy-playwright
and Crawlee, in turns, with the same Chromium. Prints the seconds and the CPU seconds a page, the peak memory of all
processes, and the requests that arrived; the best of the rounds, by CPU time. The start of the programs counts. React
comes from var/node_modules (`make sites`); other crawlers are installed below var/peers, or left out with a message.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from measuring.command_line import parser_of, show_blocks  # noqa: E402 - after the path is set
from measuring.cost import CommandError, Cost, run  # noqa: E402
from measuring.others import NotAvailableError, python_program  # noqa: E402
from measuring.results import Stamp  # noqa: E402
from support.applications import MODULES  # noqa: E402
from support.site import Site  # noqa: E402

from ultracrawl.run.rendering.browser import browser_program  # noqa: E402

OTHERS = {"scrapy-playwright": "scrapy_playwright", "Crawlee": "crawlee_playwright"}
LIBRARIES = ("react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js")
PAGE = (
    """<!doctype html><html lang=en><title>Page</title><div id=root></div>
"""
    + "".join(f"<script src=/lib/{path}></script>" for path in LIBRARIES)
    + """<script>
const e = React.createElement;
const List = () => {
  const [data, set] = React.useState({words: '', links: []});
  React.useEffect(() => { fetch('/data' + location.pathname).then(a => a.json()).then(set); }, []);
  return e('div', null, e('p', null, data.words), data.links.map(link => e('a', {key: link, href: link}, link)));
};
ReactDOM.createRoot(document.getElementById('root')).render(e(List));
</script>"""
)


def site_of(pages: int) -> Site:
    """Return a site of pages that differ in their data only, each with links to all others."""
    site = Site()
    links = [f"/{number}" for number in range(pages)]
    for number, path in enumerate(links):
        site.file(path, PAGE.encode(), "text/html")
        data = {"words": f"words of number {number} " * 40, "links": links}
        site.file(f"/data{path}", json.dumps(data).encode(), "application/json")
    for path in LIBRARIES:
        site.file(f"/lib/{path}", (MODULES / path).read_bytes(), "text/javascript")
    return site


def own_cost(url: str, folder: Path, program: str, places: int) -> tuple[int, Cost]:
    """Crawl and index with ultracrawl; return the number of documents, and the cost."""
    use = f"{{use: true, keep_html: true, pages: {places}, browser: {program}}}"
    (folder / "ultracrawl.yaml").write_text(
        f"sources: {{site: {{type: web, start_urls: [{url}], politeness: {{delay: 0}},"
        f" boundary: {{networks: [127.0.0.0/8]}}, javascript: {use}}}}}\n"
    )
    cost = run([Path(sys.executable).with_name("ultracrawl"), "crawl", "--json"], folder)
    return json.loads(cost.output)["runs"][0]["indexed"], cost


def measure(name: str, command: list[str], pages: int, places: int) -> tuple[str, dict[str, float]] | None:
    """Run a crawler over the site and return its row; None if it failed."""
    site, program = site_of(pages), browser_program(None)
    with site.serve() as url, tempfile.TemporaryDirectory() as made:
        try:
            if command:
                cost = run([*command, f"{url}/0", program, str(places)], Path(made), patience=300)
                read = json.loads(cost.output.splitlines()[-1])["pages"]
            else:
                read, cost = own_cost(f"{url}/0", Path(made), program, places)
        except CommandError as failed:
            print(f"{name}: {failed}", file=sys.stderr)
            return None
    figures = {
        "pages": read,
        "seconds": cost.seconds / pages,
        "cpu": sum(cost.cpu_by_command.values()) / pages,  # a browser does not wait for all of its processes
        "peak_mb": cost.peak_mb,
        "requests": len(site.requests),
    }
    print(name, json.dumps(figures), file=sys.stderr, flush=True)
    return f"{name}, {places} pages at once", figures


def commands(place: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the crawlers that can be had with their commands; ultracrawl has none."""
    yield "ultracrawl", []
    for name, folder in OTHERS.items():
        (place / folder).mkdir(parents=True, exist_ok=True)
        try:
            yield name, python_program(folder, place / folder)
        except NotAvailableError as missing:
            print(f"{name}: left out, {missing}", file=sys.stderr)


def table(rows: dict[str, dict[str, float]], stamp: Stamp) -> str:
    """Return the rows as a table."""
    lines = [
        f"{stamp}.\n",
        "| crawler | pages | s a page | CPU s a page | peak, MB | requests |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        lines.append(
            f"| {name} | {row['pages']} | {row['seconds']:.2f} | {row['cpu']:.2f} | {row['peak_mb']:.0f}"
            f" | {row['requests']} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure in turns, and print the table; with `--write` also update the documentation."""
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--open", type=int, nargs="+", default=[2], help="pages that are open at once")
    parser.add_argument("--only", nargs="+", choices=["ultracrawl", *OTHERS])
    parser.add_argument("--builds", type=Path, default=Path("var/peers"), help="for other crawlers")
    options = parser.parse_args()
    if not MODULES.exists() or shutil.which("chromium") is None:
        sys.exit("needs Chromium, and React in var/node_modules (`make sites`)")
    stamp, best = Stamp.of_now(), {}
    crawlers = [one for one in commands(options.builds.absolute()) if one[0] in (options.only or [one[0]])]
    for places in options.open * options.rounds:
        for name, command in crawlers:
            found = measure(name, command, options.pages, places)
            if found is not None:
                row, figures = found
                best[row] = min(best.get(row, figures), figures, key=lambda one: one["cpu"])
    show_blocks({"rendering": table(dict(sorted(best.items())), stamp)}, write=options.write)


if __name__ == "__main__":
    main()
