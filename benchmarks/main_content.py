"""Measure how much navigation main content keeps, and how much text it loses: `main_content.py GENERATOR=DIR ...`.

GENERATOR is one of those below; DIR is searched for `*.html`, and twelve of its pages are taken at equal distances. The
true text is given by hand-written selectors. Prints one JSON object per generator: words of text and of navigation by
that truth, the shares of navigation that stays and of text that is lost, with main content extraction and, as `whole`,
without it, and microseconds per page for both.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from ultracrawl.content.html.main_content import MAIN_CONTENT, WHOLE_PAGE, ContentRule
from ultracrawl.content.html.page import parse_html

TRUTH = {
    "docbook": ("body", ".navheader, .navfooter"),
    "doxygen": (".headertitle, .contents", ""),
    "javadoc": ("main", "nav"),
    "mkdocs": ("div[role=main], article", ".headerlink, .md-source-file, nav"),
    "sphinx": ("div.body", ""),
    "wordpress": (".entry-title, .entry-content, .entry-footer, .comment-list", ""),
}
"""By generator: selectors of the elements with text, and of elements in them that are not text."""
NEVER = "script, style, noscript, template, svg, iframe, title"
PAGES, ROUNDS = 12, 5
URL = "https://example.com/dir/page.html"
_WORD = re.compile(r"\w+")


def main(arguments: Sequence[str]) -> int:
    """Measure the pages on the command line."""
    pairs = [one.partition("=") for one in arguments]
    if not pairs or any(name not in TRUTH or not folder for name, _, folder in pairs):
        sys.stderr.write(f"usage: main_content.py GENERATOR=DIR ...; generators: {', '.join(TRUTH)}\n")
        return 2
    for name, _, folder in pairs:
        bodies = chosen(name, sorted(Path(folder).rglob("*.html")))
        if not bodies:
            sys.stderr.write(f"no *.html with text below {folder}\n")
            return 2
        sys.stdout.write(json.dumps({name: measure(name, bodies)}) + "\n")
    return 0


def chosen(generator: str, paths: Sequence[Path]) -> list[bytes]:
    """Return pages of the generator at equal distances."""
    bodies: list[bytes] = []
    for path in paths[:: max(1, len(paths) // (2 * PAGES))]:
        body = path.read_bytes()
        if len(bodies) < PAGES and true_words(body, *TRUTH[generator]):
            bodies.append(body)
    return bodies


def measure(generator: str, bodies: Sequence[bytes]) -> dict[str, object]:
    """Return words, shares and times of the pages of one generator."""
    truths = [true_words(body, *TRUTH[generator]) for body in bodies]
    everything = [words_of(LexborHTMLParser(body), "body", NEVER) for body in bodies]
    text = sum(map(Counter.total, truths))
    navigation = sum((every - truth).total() for every, truth in zip(everything, truths, strict=True))
    result: dict[str, object] = {"pages": len(bodies), "text": text, "navigation": navigation}
    for name, rule in (("main", MAIN_CONTENT), ("whole", WHOLE_PAGE)):
        read = [Counter(_WORD.findall(parse_html(body, url=URL, content=rule).text)) for body in bodies]
        left = sum((words - truth).total() for words, truth in zip(read, truths, strict=True))
        lost = sum((truth - words).total() for words, truth in zip(read, truths, strict=True))
        result[name] = {
            "navigation_left": round(left / max(1, navigation), 4),
            "text_lost": round(lost / max(1, text), 4),
            "microseconds": _microseconds(bodies, rule),
        }
    return result


def true_words(body: bytes, selector: str, without: str) -> Counter[str]:
    """Return the words of the true text of a page."""
    return words_of(LexborHTMLParser(body), selector, f"{NEVER}, {without}" if without else NEVER)


def words_of(tree: LexborHTMLParser, selector: str, without: str) -> Counter[str]:
    """Return the words of the elements that match a selector, without elements in them that match another."""
    for node in tree.css(without):
        node.decompose(recursive=True)
    shown = " ".join(node.html or "" for node in tree.css(selector))
    whole = shown.replace("<nav", "<div").replace(
        "role=", "data-role="
    )  # all visible text, including navigation
    return Counter(
        _WORD.findall(parse_html(whole.encode(), url=URL, content_type="text/html; charset=utf-8").text)
    )


def _microseconds(bodies: Sequence[bytes], rule: ContentRule) -> int:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for body in bodies:
            parse_html(body, url=URL, content=rule)
        best = min(best, time.process_time() - start)
    return round(best / len(bodies) * 1e6)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
