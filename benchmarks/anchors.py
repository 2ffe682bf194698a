"""Measure the cost of anchor texts in a crawl: `python benchmarks/anchors.py DIRECTORY [PAGES]`.

The HTML files of a directory are parsed and their links resolved before the measurement. Prints CPU microseconds per
page for storing links, for reading the texts of documents in sealed segments, and for writing, of a first crawl and of
a second one without changes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from array import array
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ultracrawl.content.html.page import parse_html
from ultracrawl.model import Page, UrlOutcome
from ultracrawl.rules.urls.canonical import UrlPolicy, url_key
from ultracrawl.run.indexing.anchors import AnchorTexts
from ultracrawl.stores import LinkTexts, SqliteStore

SITE = "http://localhost/"
PAGES_A_FLUSH = 150


@dataclass(frozen=True)
class Located:
    """A page with the URLs of its links by link as written, and the keys of links within the source."""

    url: str
    page: Page
    links: dict[str, str]
    inside: array[int]


def read(directory: Path, limit: int) -> list[Located]:
    """Return the pages of a directory with their admitted links."""
    policy, found = UrlPolicy(), []
    for path in sorted(directory.resolve().rglob("*.html"))[:limit]:
        url = SITE + str(path.relative_to(directory.resolve()))
        page = parse_html(path.read_bytes(), url=url)
        hrefs = dict.fromkeys(link.href for link in page.links)
        links = {href: target for href in hrefs if (target := policy.canonical(href, url)) is not None}
        inside = array("q", [url_key(target) for target in links.values() if target.startswith(SITE)])
        found.append(Located(url, page, links, inside))
    return found


def crawl(desk: AnchorTexts, state: SqliteStore, pages: list[Located], *, known: bool) -> list[float]:
    """Return the CPU microseconds per page of storing, writing and reading."""
    seconds = [0.0, 0.0, 0.0]
    waiting: list[int] = []
    for number, one in enumerate(pages, 1):
        visit: Any = SimpleNamespace(
            url=one.url, from_store=False, outcome=UrlOutcome.NEW, fetch=SimpleNamespace(status=200), deferred=False,
            revived=False, page=SimpleNamespace(own_readers=None),
            entry=SimpleNamespace(key=url_key(one.url)), record=SimpleNamespace(last_fetched=float(known)),
        )  # fmt: skip
        times = [time.process_time()]
        desk.links_resolved(visit, one.links, one.inside, one.page.links)
        times.append(time.process_time())
        desk.visit_ended(visit)
        waiting.append(visit.entry.key)
        full = number % PAGES_A_FLUSH == 0 or number == len(pages)
        if full:
            state.flush()
        times.append(time.process_time())
        if full:
            found = state.links.anchor_texts(waiting)
            for key in waiting:
                state.links.submitted_with_texts(key, found.get(key, LinkTexts()))
            waiting.clear()
            state.flush()
        times.append(time.process_time())
        seconds = [total + times[n + 1] - times[n] for n, total in enumerate(seconds)]
    return [round(total / len(pages) * 1e6, 1) for total in seconds]


def main(directory: Path, limit: int) -> None:
    """Measure and print."""
    pages = read(directory, limit)
    texts = sum(bool(link.text) for one in pages for link in one.page.links)
    print(f"{len(pages)} pages, {texts / len(pages):.1f} links with a text a page")
    with tempfile.TemporaryDirectory() as folder:
        state = SqliteStore(Path(folder, "s.sqlite"), "s")
        context: Any = SimpleNamespace(store=state)
        for name in ("first crawl", "second crawl"):
            desk = AnchorTexts(context)
            noting, writing, looking = crawl(desk, state, pages, known=name != "first crawl")
            print(f"{name}: noting {noting} µs, writing {writing} µs, looking up {looking} µs a page")
        state.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
