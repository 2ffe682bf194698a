"""What a page and its answer say for themselves: links, META values, headers, values of sitemaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urljoin

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.model import Page
    from ultracrawl.rules.recrawl.adaptive import KnownPage
    from ultracrawl.rules.urls.canonical import UrlPolicy

MOST_LINKS = 10_000
"""Links of a document that are told."""
MOST_VALUES = 500
"""META values and headers of a document that are told."""
LONGEST = 1_000
"""Characters of a value that are told."""
_SECRET = frozenset({"set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authorization"})
"""Headers that say who asks; they are nobody else's business."""


def links_of(page: Page, base: str, policy: UrlPolicy) -> list[str]:
    """Return the links of a page as absolute URLs, each once; canonical ones, where their schemes are crawled."""
    found: dict[str, None] = {}
    for link in page.links:
        url = policy.canonical(link.href, page.base or base) or _absolute(link.href, page.base or base)
        if url:
            found[url] = None
            if len(found) == MOST_LINKS:
                break
    return list(found)


def _absolute(href: str, base: str) -> str:
    """Return a URL that names a host, empty for other links (`mailto:`) and for what is no URL."""
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return url if "://" in url else ""


def metadata_of(page: Page, response: Response, known: KnownPage | None) -> list[str]:
    """Return `meta.NAME=VALUE`, `http.NAME=VALUE` and `sitemap.NAME=VALUE`, as far as there are such values."""
    found = [f"{name}={value}"[:LONGEST] for name, value in _values(page, response, known) if value]
    return list(dict.fromkeys(found))[:MOST_VALUES]


def _values(page: Page, response: Response, known: KnownPage | None) -> Iterator[tuple[str, str]]:
    for name, values in page.meta.items():
        for value in values:
            yield f"meta.{name}", value
    for raw, lines in response.headers.items():
        header = raw.decode("latin-1").lower()
        if header not in _SECRET:
            for line in lines:
                yield f"http.{header}", line.decode("latin-1")
    if known is not None:
        yield "sitemap.changefreq", known.changefreq
        yield "sitemap.priority", "" if known.priority is None else f"{known.priority:g}"
