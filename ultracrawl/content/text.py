"""Plain text as a page, and the description that stands in for a missing one."""

from __future__ import annotations

from itertools import islice

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.directives import parse_directives
from ultracrawl.content.html.links import plain_urls
from ultracrawl.content.limits import DEFAULTS, LINKS, TEXT, PageLimits, limit_text, reasons
from ultracrawl.model.page import Link, LinkKind, Page


def parse_text(
    body: bytes,
    *,
    content_type: str = "",
    link_kinds: frozenset[LinkKind] = frozenset(),
    x_robots_tag: tuple[str, ...] = (),
    robots_name: str = "ultracrawl",
    default_charset: str = "",
    limits: PageLimits = DEFAULTS,
) -> Page:
    """Read plain text; the title stays empty, for the caller knows the file's name.

    URLs in the text are links only if `link_kinds` has `LinkKind.TEXT`.
    """
    text, charset = decode(body, content_type, default_charset)
    folded, wordy = limit_text(" ".join(text.replace("\0", " ").split()), limits.text)
    urls = dict.fromkeys(plain_urls(folded)) if LinkKind.TEXT in link_kinds else {}
    links = tuple(Link(url, LinkKind.TEXT) for url in islice(urls, limits.links))
    return Page(
        text=folded,
        charset=charset,
        robots=parse_directives((), x_robots_tag, name=robots_name),
        links=links,
        truncated=reasons((LINKS, limits.links, len(links) < len(urls)), (TEXT, limits.text, wordy)),
    )
