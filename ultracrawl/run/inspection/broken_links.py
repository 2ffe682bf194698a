"""Finds the pages that link to URLs, for those that are not there: a link is mended where it stands."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice

from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import Store

MOST_PAGES = 200_000
"""Pages whose links are read at most: a look at a URL is to take less than a second."""


def linking_pages(state: Store, records: Iterable[UrlRecord]) -> dict[str, str]:
    """Return a page that links to each URL; those to which none of the first `MOST_PAGES` does are left out.

    The pages are read once for all URLs together.
    """
    wanted = {url_key(record.url): record.url for record in records}
    found = dict[str, int]()
    for page, links in islice(state.links.page_links(), MOST_PAGES):
        if len(found) == len(wanted):
            break
        for target in array("q", links):
            if target in wanted and target != page:
                found.setdefault(wanted[target], page)
    known = state.records.known_urls([*dict.fromkeys(found.values())])
    return {url: known[page][0] for url, page in found.items() if page in known}
