"""Measure the processing of a fetched HTML page, step by step: `python benchmarks/parse.py DIR [PAGES]`.

Prints one JSON object with microseconds per page. DIR is searched for `*.html`. The best of some rounds counts, page by
page, and the steps take turns, so that other load has little effect. `floor` is the time of the parser for the same
work with its own selectors and text functions; `of_floor` is the time of reading as a multiple of it.
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
from ultracrawl.content.html.guards import limit_attributes, limit_formatting, limit_nesting
from ultracrawl.content.html.main_content import MAIN_CONTENT
from ultracrawl.content.html.marks import mark_block_edges
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.mime import sniff_type
from ultracrawl.rules.robots.rules import RobotsRules

T = TypeVar("T")
URL = "https://example.com/dir/page.html"
ROUNDS = 5
ROBOTS = "User-agent: *\n" + "".join(f"Disallow: /dir{n}/\n" for n in range(40)) + "Disallow: /*?s=\n"


def main(arguments: Sequence[str]) -> int:
    """Measure the pages below the directory on the command line."""
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
    steps: dict[str, Callable[[bytes], object]] = {
        "charset": find_charset,
        "media_type": sniff_type,
        "attribute_limit": limit_attributes,
        "formatting_limit": limit_formatting,
        "nesting_limit": limit_nesting,
        "edges": mark_block_edges,
        "tree": LexborHTMLParser,
        "floor": _floor,
        "parse_html": lambda body: parse_html(body, url=URL, content=MAIN_CONTENT),
    }
    taken = dict(zip(steps, _microseconds(list(steps.values()), bodies), strict=True))
    blocks, allowed = _microseconds([rules.blocks, rules.allowed], urls)
    return {
        "pages": len(bodies),
        "mean_bytes": round(sum(map(len, bodies)) / len(bodies)),
        "links_per_page": round(sum(len(page.links) for page in pages) / len(pages), 1),
        **taken,
        "of_floor": round(taken["parse_html"] / taken["floor"], 2),
        "robots_blocks_per_url": blocks,
        "robots_allowed_per_url": allowed,
        "robots_parse": _microseconds([RobotsRules.parse], [ROBOTS] * 50)[0],
    }


def _floor(body: bytes) -> object:
    """Extract title, META, links with texts and the page text, each by one call of the parser."""
    tree = LexborHTMLParser(body)
    titles = [node.text() for node in tree.css("title")]
    metas = [node.attributes for node in tree.css("meta")]
    links = [(node.attributes.get("href"), node.text()) for node in tree.css("a[href]")]
    return titles, metas, links, tree.body.text(separator=" ") if tree.body else ""


def _microseconds(steps: Sequence[Callable[[T], object]], inputs: Sequence[T]) -> list[float]:
    """Return the mean microseconds per input of each step."""
    best = [[float("inf")] * len(inputs) for _ in steps]
    for _ in range(ROUNDS):
        for at, value in enumerate(inputs):
            for step, times in zip(steps, best, strict=True):
                start = time.thread_time_ns()
                step(value)
                times[at] = min(times[at], time.thread_time_ns() - start)
    return [round(sum(times) / len(inputs) / 1000, 2) for times in best]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
