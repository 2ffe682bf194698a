"""Microseconds per page of what happens to a fetched HTML page: `python benchmarks/parse.py DIR [PAGES]`.

Prints one JSON object. DIR is searched for `*.html`; each number is the best of three rounds over all pages. `floor` is
what the parser takes for the same in its own selectors and text functions.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser

from ultracrawl.content.charset.decoding import find_charset
from ultracrawl.content.html.nesting import limit_nesting
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.mime import sniff_type
from ultracrawl.rules.robots.rules import RobotsRules

T = TypeVar("T")
URL = "https://example.com/dir/page.html"
ROUNDS = 3
ROBOTS = "User-agent: *\n" + "".join(f"Disallow: /dir{n}/\n" for n in range(40)) + "Disallow: /*?s=\n"


def main(arguments: Sequence[str]) -> int:
    """Measure the pages below the directory that is named on the command line."""
    if not arguments:
        sys.stderr.write("usage: parse.py DIR [PAGES]\n")
        return 2
    most = int(arguments[1]) if len(arguments) > 1 else 1000
    bodies = [path.read_bytes() for path in sorted(Path(arguments[0]).rglob("*.html"))[:most]]
    if not bodies:
        sys.stderr.write(f"no *.html below {arguments[0]}\n")
        return 2
    sys.stdout.write(json.dumps(measure(bodies), indent=2) + "\n")
    return 0


def measure(bodies: Sequence[bytes]) -> dict[str, float]:
    """Return the mean microseconds per page of each component, and per URL for robots."""
    rules = RobotsRules.parse(ROBOTS)
    urls = [f"https://example.com/dir{n % 60}/page.html?x={n}" for n in range(1000)]
    pages = [parse_html(body, url=URL) for body in bodies]
    return {
        "pages": len(bodies),
        "mean_bytes": round(sum(map(len, bodies)) / len(bodies)),
        "links_per_page": round(sum(len(page.links) for page in pages) / len(pages), 1),
        "charset": _microseconds(find_charset, bodies),
        "media_type": _microseconds(sniff_type, bodies),
        "nesting": _microseconds(limit_nesting, bodies),
        "tree": _microseconds(LexborHTMLParser, bodies),
        "floor": _microseconds(_floor, bodies),
        "parse_html": _microseconds(lambda body: parse_html(body, url=URL), bodies),
        "robots_blocks_per_url": _microseconds(rules.blocks, urls),
        "robots_allowed_per_url": _microseconds(rules.allowed, urls),
        "robots_parse": _microseconds(RobotsRules.parse, [ROBOTS] * 50),
    }


def _floor(body: bytes) -> object:
    """Take title, META, links with their texts and the text of the page, each by one call of the parser's own."""
    tree = LexborHTMLParser(body)
    titles = [node.text() for node in tree.css("title")]
    metas = [node.attributes for node in tree.css("meta")]
    links = [(node.attributes.get("href"), node.text()) for node in tree.css("a[href]")]
    return titles, metas, links, tree.body.text(separator=" ") if tree.body else ""


def _microseconds(work: Callable[[T], object], inputs: Sequence[T]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for value in inputs:
            work(value)
        best = min(best, time.process_time() - start)
    return round(best / len(inputs) * 1e6, 2)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
