"""Measure how much of the text of news and blog pages is their article: `articles.py DIR`.

DIR has a folder for each page with `source.html`, the page, and `expected.html`, its article, as the test pages of
Mozilla's Readability have them. Pages whose article has less than 150 words are left out. Prints one JSON object for
each value of `content.main`: precision and recall of runs of four words, by which each page counts alike, and their F1,
as the article-extraction-benchmark of Scrapinghub computes them; a page without text has no precision. `half` are the
pages whose name has an odd digest: what is tuned by the others is judged by them.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

from ultracrawl.content.html.main_content import MAIN_CONTENT, WHOLE_PAGE
from ultracrawl.content.html.page import parse_html

LEAST_WORDS, RUN = 150, 4
RULES = {"auto": MAIN_CONTENT, "off": WHOLE_PAGE}
URL = "https://example.com/dir/page.html"
_WORD = re.compile(r"\w+")
Runs = Counter[tuple[str, ...]]


def main(arguments: Sequence[str]) -> int:
    """Measure the pages on the command line."""
    pages = pages_of(Path(arguments[0])) if len(arguments) == 1 else {}
    if not pages:
        sys.stderr.write("usage: articles.py DIR; DIR has NAME/source.html and NAME/expected.html\n")
        return 2
    for name, rule in RULES.items():
        start = time.process_time()
        texts = {page: parse_html(body, url=URL, content=rule).text for page, (body, _) in pages.items()}
        seconds = time.process_time() - start
        shares = {page: shares_of(runs_of(texts[page]), truth) for page, (_, truth) in pages.items()}
        result = {
            "pages": len(pages),
            **scores(shares.values()),
            "half": scores(found for page, found in shares.items() if is_held_out(page)),
            "microseconds": round(seconds / len(pages) * 1e6),
        }
        sys.stdout.write(json.dumps({name: result}) + "\n")
    return 0


def pages_of(folder: Path) -> dict[str, tuple[bytes, Runs]]:
    """Return bodies and the runs of their articles, by the names of their folders."""
    pages = {}
    for source in sorted(folder.glob("*/source.html")):
        expected = source.with_name("expected.html")
        html = expected.read_bytes() if expected.is_file() else b""
        article = parse_html(html, url=URL, content_type="text/html; charset=utf-8").text
        if len(article.split()) >= LEAST_WORDS:
            pages[source.parent.name] = source.read_bytes(), runs_of(article)
    return pages


def is_held_out(page: str) -> bool:
    """Return whether a page belongs to the half that nothing is tuned by."""
    return hashlib.sha256(page.encode()).digest()[0] % 2 == 1


def runs_of(text: str) -> Runs:
    """Return the runs of four words of a text."""
    words = _WORD.findall(text)
    return Counter(run for at in range(max(1, len(words) - RUN + 1)) if (run := tuple(words[at : at + RUN])))


def shares_of(read: Runs, truth: Runs) -> tuple[float | None, float]:
    """Return precision, None without a text, and recall of one page."""
    found = (read & truth).total()
    return found / read.total() if read else None, found / truth.total()


def scores(shares: Iterable[tuple[float | None, float]]) -> dict[str, float]:
    """Return the means of precision and recall, and the F1 of these."""
    precisions, recalls = zip(*shares, strict=True)
    precision, recall = mean(one for one in precisions if one is not None), mean(recalls)
    f1 = 2 * precision * recall / (precision + recall)
    return {"precision": round(precision, 3), "recall": round(recall, 3), "f1": round(f1, 3)}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
