"""The headings of a page, and its text without them."""

from __future__ import annotations

from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.html.nesting import limit_nesting
from ultracrawl.content.html.page import parse_html

_HEADINGS = "h1,h2,h3,h4,h5,h6"


class Outline(NamedTuple):
    """Headings in document order, each with its level from 1 to 6, and the text around them."""

    headings: tuple[tuple[int, str], ...]
    text: str


def outline_of(body: bytes, content_type: str = "") -> Outline:
    """Return the outline of an HTML page; broken HTML gives what a browser would make of it."""
    whole, _ = decode(body, content_type)
    cut, _ = limit_nesting(whole.encode("utf-8", "replace"))
    tree = LexborHTMLParser(cut)
    headings = []
    for node in tree.css(_HEADINGS):
        headings.append((int((node.tag or "h6")[1]), " ".join(node.text().split())))
        node.decompose()
    rest = parse_html(
        (tree.html or "").encode("utf-8", "replace"), url="", content_type="text/html; charset=utf-8"
    )
    return Outline(tuple(headings), rest.text)
