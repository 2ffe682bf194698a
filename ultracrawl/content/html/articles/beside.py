"""Finds what stands beside the article of a page of news or of a blog: comments, related articles, share lines.

Class names, ids and labels are weak marks: the same words name parts of the text in other pages. They are read only on
pages that declare to be an article, and what they name is dropped only if a good share of the text remains.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.collector import PageCollector, Region, Span, subtract

_NAMED = (
    ",".join(
        f"{name}[class],{name}[id],{name}[aria-label]"
        for name in ("div", "section", "aside", "ul", "ol", "dl", "p", "form", "footer", "header", "h2", "h3")
    )
    + ",[itemprop^=comment]"
)
"""Elements whose names are read."""
_NAMING = ("id", "class", "aria-label", "itemprop", "itemtype")
_MAX_NAME = 300
"""Characters of the names of an element that are read."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
"""A word of a name, as in `related-posts`, `relatedPosts` and `related_posts`."""
_COMMENTS = re.compile(
    r"\b(?:comment(?:s|list|ing)?|disqus|respond|responses|repl(?:y|ies)|discussions?|livefyre|talkback)\b"
)
_BESIDE = re.compile(
    r"\b(?:related(?:posts|articles|stories|content|news)?|recommend(?:ed|s|ations?)?|trending|popular|taboola|outbrain|promot?(?:ed|ions?|s)?|sponsored"
    r"|newsletters?|subscribe|signup|shar(?:e|es|ing|ebar|edaddy)|social|addthis|addtoany|follow"
    r"|cookies?|consent|gdpr|sidebar|breadcrumbs?|tags|taglist|pagination|pager|nav|menu|navigation"
    r"|ads?|advert(?:s|isements?|ising)?|footer|masthead|toolbar|rail|morestories|readnext|upnext"
    r"|most (?:read|viewed|shared|commented)|more (?:from|stories|news|on|in|like|articles|posts)"
    r"|(?:read|up) (?:next|also)|also (?:read|on|in)|you (?:may|might)|tag (?:list|cloud)"
    r"|author (?:bio|box|info)|widgets? (?:area|recent|archive|categories|tag|nav))\b"
)
_ARTICLE_INSIDE = "h1,main,[itemprop~=articleBody]"
"""What an element beside the article does not contain."""
_GOOD_REST = 1000
"""Characters that are enough of a text, even if they are less than half of it."""
_MAX_TRIED = 8
"""Elements `article` that are compared with the text."""


def find_article(collector: PageCollector, root: LexborNode) -> None:
    """Find the elements that are declared as articles, and those that seem to stand beside them."""
    collector.is_article = True
    collector.regions += [(node, Region.BODY) for node in root.css("[itemprop~=articleBody]")]
    collector.regions += [(node, Region.ARTICLE) for node in root.css("article")]
    around = _around(root.css(_ARTICLE_INSIDE))
    for node in root.css(_NAMED):
        if (region := _region_of(node)) is not None and node.mem_id not in around:
            collector.regions.append((node, region))


def _around(nodes: Sequence[LexborNode]) -> set[int]:
    """Return the numbers of some elements and of all that contain them."""
    around: set[int] = set()
    for inner in nodes:
        node: LexborNode | None = inner
        while node is not None and node.mem_id not in around:
            around.add(node.mem_id)
            node = node.parent
    return around


def _region_of(node: LexborNode) -> Region | None:
    attributes = node.attributes
    named = " ".join(filter(None, map(attributes.get, _NAMING)))[:_MAX_NAME]
    words = " ".join(_WORD.findall(named)).lower()
    if _COMMENTS.search(words):
        return Region.COMMENTS
    return Region.BESIDE if _BESIDE.search(words) else None


def keep_article(collector: PageCollector, text: Sequence[Span]) -> Sequence[Span]:
    """Return which spans of the text are the article; all if nothing says so, or too little would remain."""
    sizes = _Sizes(collector.parts)
    whole = sizes.of(text)
    beside = collector.spans[Region.COMMENTS] + [
        span for span in collector.spans[Region.BESIDE] if 2 * sizes.of_one(span) <= whole
    ]
    rest = subtract(text, beside, sizes.end)
    if (left := sizes.of(rest)) >= min(_GOOD_REST, whole / 2):
        text, whole = rest, left
    bodies = _within(text, collector.spans[Region.BODY], sizes.end)
    if 3 * sizes.of(bodies) >= whole > 0:
        return bodies
    large = [span for span in collector.spans[Region.ARTICLE] if 2 * sizes.of_one(span) >= whole]
    for span in sorted(large, key=sizes.of_one)[:_MAX_TRIED]:
        article = _within(text, [span], sizes.end)
        if 2 * sizes.of(article) >= whole > 0:
            return article
    return text


def _within(text: Sequence[Span], spans: Sequence[Span], end: int) -> list[Span]:
    return subtract(text, subtract([Span(0, end)], spans, end), end)


class _Sizes:
    """The characters of spans of a list of texts."""

    def __init__(self, parts: Sequence[str]) -> None:
        self.end = len(parts)
        self._before = [0, *accumulate(map(len, parts))]

    def of_one(self, span: Span) -> int:
        return self._before[self.end if span.end is None else span.end] - self._before[span.begin]

    def of(self, spans: Sequence[Span]) -> int:
        return sum(map(self.of_one, spans))
