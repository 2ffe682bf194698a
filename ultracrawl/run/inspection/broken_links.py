"""Finds the pages that link to URLs, for those that are not there: a link is mended where it stands."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice

from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.inspection.url_life import linking_pages
from ultracrawl.stores import Store

MOST_PAGES = 200_000
"""Pages whose links are read at most: a look at a URL is to take less than a second."""


def broken_links(state: Store, records: Iterable[UrlRecord]) -> dict[str, list[str]]:
    """Return the pages that link to each URL, of the first `MOST_PAGES`, sorted; none for a URL without links.

    The pages are read once for all URLs together.
    """
    wanted = {url_key(record.url): record.url for record in records}
    found: dict[int, Sequence[int]] = {}
    links = islice(state.links.page_links(), MOST_PAGES)
    if len(wanted) == 1:
        (key,) = wanted
        found[key] = list(linking_pages(links, key))
    else:
        found = _pages_by_target(links, wanted)
    known = state.records.known_urls([*dict.fromkeys(chain.from_iterable(found.values()))])
    return {
        url: sorted(known[page][0] for page in found.get(key, ()) if page in known)
        for key, url in wanted.items()
    }


def _pages_by_target(
    links: Iterable[tuple[int, bytes]], wanted: Mapping[int, str]
) -> dict[int, Sequence[int]]:
    """Return the keys of the pages that link to each of some URLs, by its key."""
    keys = frozenset(wanted)
    found: dict[int, array[int]] = {}
    for page, targets in links if keys else ():
        for target in keys.intersection(array("q", targets)):
            if target != page:
                found.setdefault(target, array("q")).append(page)
    return dict[int, Sequence[int]](found)
