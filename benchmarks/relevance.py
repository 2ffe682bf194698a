"""How good the answers are: `python benchmarks/relevance.py [DIRECTORY]` prints JSON.

The questions in `relevance.json`, with the pages of Python's manual (Debian's python3.11-doc) that answer them
well (3), partly (2) or a little (1), are put to our engines, to Whoosh as its guide shows it, and to SQLite's FTS5.
Printed are the mean nDCG@10 and the number of questions with a page graded 3 among the first three; `worst` are the
questions with the lowest nDCG.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

from whoosh.fields import ID, TEXT, Schema
from whoosh.index import create_in
from whoosh.qparser import MultifieldParser

from ultracrawl.content.anchors import MOST_ANCHORS, SHARED, anchor_text
from ultracrawl.content.html.page import parse_html
from ultracrawl.index import IndexDocument, SearchQuery
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.writing.segments import batches
from ultracrawl.model import Page
from ultracrawl.rules.attributes.schema import attribute_schema

SITE = "http://localhost/"
Ask = Callable[[str], list[str]]
Judged = list[tuple[str, dict[str, int]]]


def documents(directory: Path) -> list[IndexDocument]:
    """Return the pages as they are in the index after a crawl, with what links to them are called."""
    paths = sorted(directory.rglob("*.html"))
    pages = {SITE + str(path.relative_to(directory)): path for path in paths}
    read = {url: parse_html(path.read_bytes(), url=url) for url, path in pages.items()}
    texts = anchor_texts(read)
    return [
        IndexDocument(
            "manual", url, page.title, page.text, {"Language": [page.language or "en"]}, anchors=texts[url]
        )
        for url, page in read.items()
    ]


def anchor_texts(pages: dict[str, Page]) -> dict[str, tuple[str, ...]]:
    """Return the texts of links to each page from others, by the rules of a crawl."""
    found: dict[str, dict[str, None]] = {url: {} for url in pages}
    leads: Counter[str] = Counter()
    for url, page in pages.items():
        for link in page.links:
            target, text = urljoin(page.base or url, link.href), anchor_text(link.text)
            if text and target != url and text not in found.get(target, {text: None}):
                found[target][text] = None
                leads[text] += 1
    return {
        url: tuple(text for text in texts if leads[text] <= SHARED)[:MOST_ANCHORS]
        for url, texts in found.items()
    }


def ours(engine: str, pages: list[IndexDocument], folder: Path) -> Ask:
    """Return how one of our engines is asked."""
    index = open_index(IndexConfig(engine, folder, tuple(attribute_schema().values())))
    for batch in batches(pages):
        index.apply(batch)
    return lambda text: [hit.url.removeprefix(SITE) for hit in index.search(SearchQuery(text)).hits]


def stock_whoosh(pages: list[IndexDocument], folder: Path) -> Ask:
    """Return how Whoosh is asked, as its quick start does, in title and text."""
    folder.mkdir()
    index = create_in(str(folder), Schema(path=ID(stored=True), title=TEXT, text=TEXT))
    writer = index.writer()
    for page in pages:
        writer.add_document(path=page.url.removeprefix(SITE), title=page.title, text=page.text)
    writer.commit()
    parser, searcher = MultifieldParser(["title", "text"], index.schema), index.searcher()
    return lambda text: [hit["path"] for hit in searcher.search(parser.parse(text), limit=10)]


def fts5(pages: list[IndexDocument], *, stemmed: bool) -> Ask:
    """Return how FTS5 is asked: all words, by its rank."""
    database = sqlite3.connect(":memory:")
    tokenizer = ", tokenize='porter unicode61'" if stemmed else ""
    database.execute(f"CREATE VIRTUAL TABLE pages USING fts5(path UNINDEXED, title, text{tokenizer})")
    rows = ((page.url.removeprefix(SITE), page.title, page.text) for page in pages)
    database.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)

    def ask(text: str) -> list[str]:
        words = " ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        query = "SELECT path FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT 10"
        return [path for (path,) in database.execute(query, [words])]

    return ask


def ndcg(found: list[str], grades: dict[str, int]) -> float:
    """Return the discounted cumulative gain of the first ten answers, of the best possible."""
    got = sum((2 ** grades.get(path, 0) - 1) / math.log2(n + 2) for n, path in enumerate(found[:10]))
    best = sorted(grades.values(), reverse=True)[:10]
    return got / sum((2**grade - 1) / math.log2(n + 2) for n, grade in enumerate(best))


def judge(ask: Ask, judged: Judged) -> dict[str, object]:
    """Ask all questions and return how good the answers are."""
    answers = [(text, ask(text), grades) for text, grades in judged]
    points = {text: round(ndcg(found, grades), 3) for text, found, grades in answers}
    return {
        "ndcg_10": round(sum(points.values()) / len(points), 3),
        "top_3": sum(any(grades.get(path) == 3 for path in found[:3]) for _, found, grades in answers),
        "questions": len(points),
        "worst": dict(sorted(points.items(), key=lambda item: item[1])[:5]),
    }


def main(directory: Path) -> None:
    """Compare and print."""
    rows = json.loads(Path(__file__).with_name("relevance.json").read_text())
    judged = [(row["query"], row["pages"]) for row in rows]
    missing = [path for _, grades in judged for path in grades if not (directory / path).exists()]
    if missing:
        sys.exit(f"{directory} has no {', '.join(missing)}; is it the manual of python3.11-doc?")
    pages = documents(directory)
    plain = [replace(page, anchors=()) for page in pages]
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "whoosh": ours("whoosh", pages, Path(folder, "whoosh")),
            "tantivy": ours("tantivy", pages, Path(folder, "tantivy")),
            "whoosh_out_of_the_box": stock_whoosh(pages, Path(folder, "stock")),
            "whoosh_without_anchors": ours("whoosh", plain, Path(folder, "plain")),
            "fts5": fts5(pages, stemmed=False),
            "fts5_porter": fts5(pages, stemmed=True),
        }
        print(json.dumps({name: judge(ask, judged) for name, ask in ways.items()}, indent=2))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/doc/python3.11/html"))
