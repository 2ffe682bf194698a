"""Estimates how many pages of a site a source would crawl: by its sitemaps, else by the links of some pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from ultracrawl.content.feeds.sitemap import Sitemap, SitemapKind, parse_sitemap
from ultracrawl.dataclass import dataclass
from ultracrawl.service.probing.client import MAX_BODY_BYTES, ProbeResponse
from ultracrawl.service.probing.visitor import Visitor
from ultracrawl.system.nouns import counted

MAX_SAMPLED = 4
"""Sitemaps of one list, or of one index, that are requested."""
MAX_PAGES = 8
"""Pages whose links are read if there is no sitemap."""

Links = Callable[[ProbeResponse], Iterable[str]]
"""Returns the canonical URLs that a page links to and that belong to the source."""


@dataclass(frozen=True, slots=True)
class PageCount:
    """A number of pages: exactly, about, or at least so many."""

    number: int
    sampled: bool = False
    minimum: bool = False
    in_sitemaps: bool = False

    def __str__(self) -> str:
        """Return the number in words."""
        prefix = "at least " if self.minimum else "about " if self.sampled else ""
        place = " in its sitemaps" if self.in_sitemaps else ""
        return f"{prefix}{counted(self.number, 'page')}{' (sampled)' if self.sampled else ''}{place}"


class _Estimate(NamedTuple):
    pages: float
    is_sampled: bool


def count_in_sitemaps(
    urls: Sequence[str], visitor: Visitor, belongs: Callable[[str], bool]
) -> PageCount | None:
    """Return the number of pages that sitemaps list and that belong to the source; None if no sitemap can be read."""
    found = _estimate(urls, visitor, belongs, levels=2)
    return None if found is None else PageCount(_rounded(found), found.is_sampled, in_sitemaps=True)


def _estimate(
    urls: Sequence[str], visitor: Visitor, belongs: Callable[[str], bool], levels: int
) -> _Estimate | None:
    """Read some of the sitemaps, evenly chosen, and return how many pages all of them have."""
    sample = _evenly(urls, MAX_SAMPLED)
    read = [_pages_of(visitor.fetch(url), visitor, belongs, levels) for url in sample]
    known = [one for one in read if one is not None]
    if not known:
        return None
    is_whole = len(known) == len(urls) and not any(one.is_sampled for one in known)
    return _Estimate(fmean(one.pages for one in known) * len(urls), not is_whole)


def _pages_of(
    response: ProbeResponse, visitor: Visitor, belongs: Callable[[str], bool], levels: int
) -> _Estimate | None:
    if response.status != 200:
        return None
    sitemap = parse_sitemap(response.body, response.url, response.headers.get("content-type", ""))
    if sitemap.kind is SitemapKind.UNKNOWN:
        return None
    rest = _times_cut(response, sitemap)
    own = sum(belongs(entry.loc) for entry in sitemap.urls)
    below = [entry.loc for entry in sitemap.children]
    found = _estimate(below, visitor, belongs, levels - 1) if below and levels > 1 else None
    pages = own + (found.pages if found else 0.0)
    return _Estimate(pages * rest, rest > 1 or (found.is_sampled if found else bool(below)))


def _times_cut(response: ProbeResponse, sitemap: Sitemap) -> float:
    """Return how many times as long a sitemap is as what was read of it."""
    read = len(response.body)
    if read < MAX_BODY_BYTES or not sitemap.problem:
        return 1.0
    length = response.headers.get("content-length", "")
    return max(int(length) / read, 1.0) if length.isascii() and length.isdecimal() else 2.0


def _evenly(urls: Sequence[str], number: int) -> list[str]:
    """Return at most `number` of the URLs, from the first to the last."""
    if len(urls) <= number:
        return list(urls)
    return [urls[step * (len(urls) - 1) // (number - 1)] for step in range(number)]


def _rounded(found: _Estimate) -> int:
    """Return an estimate with the two digits that it may have meaning for."""
    number = round(found.pages)
    return round(number, 2 - len(str(number))) if found.is_sampled and number >= 100 else number


def count_by_links(front: ProbeResponse, visitor: Visitor, links: Links) -> PageCount:
    """Return how many pages the links of the front page, and of some pages that they lead to, name."""
    known = {front.url}
    waiting = list(dict.fromkeys(url for url in links(front) if url not in known))
    known.update(waiting)
    read = 1
    while waiting and read < MAX_PAGES and not visitor.is_exhausted:
        page = visitor.fetch(waiting.pop(len(waiting) // 2))
        read += 1
        new = [url for url in dict.fromkeys(links(page)) if url not in known]
        known.update(new)
        waiting += new
    return PageCount(len(known), bool(waiting), bool(waiting))
