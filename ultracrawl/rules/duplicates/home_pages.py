"""Home pages, which many pages name as canonical by mistake."""

from __future__ import annotations

import re
from collections.abc import Collection

_INDEX_FILE = re.compile(r"/(?:(?:index|default|home)\.\w+)?")


def names_home_page(url: str, target: str, starts: Collection[str] = ()) -> bool:
    """Return whether the canonical link of a page names a home page of which it is no variant.

    Such a link usually stands in the template of a site, on every page; followed, it would leave only the home page.
    `starts` are URLs that are home pages, too. Variants are home pages themselves, and URLs that differ from the
    target in scheme or query only. All URLs are canonical.
    """
    if not _is_home_page(target, starts) or _is_home_page(url, starts):
        return False
    return _location(url) != _location(target)


def _is_home_page(url: str, starts: Collection[str]) -> bool:
    location = _location(url)
    path = location[location.find("/") :] if "/" in location else "/"
    return url in starts or _INDEX_FILE.fullmatch(path) is not None


def _location(url: str) -> str:
    """Return host and path of a URL."""
    return url.partition("://")[2].partition("?")[0]
