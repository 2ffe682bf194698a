"""Parser for plain text."""

from __future__ import annotations

from itertools import islice

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.directives import parse_directives
from ultracrawl.content.html.links import plain_urls
from ultracrawl.content.limits import (
    DEFAULT_LIMITS,
    LINKS_CUT,
    TEXT_CUT,
    PageLimits,
    join_reasons,
    limit_text,
)
from ultracrawl.model.page import Link, LinkKind, Page


def parse_text(
    body: bytes,
    *,
    content_type: str = "",
    link_kinds: frozenset[LinkKind] = frozenset(),
    x_robots_tag: tuple[str, ...] = (),
    robots_name: str = "ultracrawl",
    default_charset: str = "",
    limits: PageLimits = DEFAULT_LIMITS,
) -> Page:
    """Parse plain text; the title stays empty, since the caller knows the file name.

    URLs in the text are links only if `link_kinds` has `LinkKind.TEXT`.
    """
    text, charset = decode(body, content_type, default_charset)
    folded, is_cut = limit_text(" ".join(text.replace("\0", " ").split()), limits.text)
    urls = dict.fromkeys(plain_urls(folded)) if LinkKind.TEXT in link_kinds else {}
    links = tuple(Link(url, LinkKind.TEXT) for url in islice(urls, limits.links))
    return Page(
        text=folded,
        charset=charset,
        robots=parse_directives((), x_robots_tag, name=robots_name),
        links=links,
        truncated=join_reasons(
            (LINKS_CUT, limits.links, len(links) < len(urls)), (TEXT_CUT, limits.text, is_cut)
        ),
    )
