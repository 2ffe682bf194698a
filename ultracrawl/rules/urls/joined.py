"""Links of pages in one folder, most of which are the same: each is joined and made canonical once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

LINKS_KEPT = 20_000
"""Links that are remembered at most, about 6 MB."""
_PAGES_OWN = frozenset("?#") | frozenset(map(chr, range(0x21)))
"""First characters of links that may depend on the whole URL of the page; blanks fall away when it is joined."""


class JoinedLinks:
    """A memory in front of `canonical` (`UrlPolicy.canonical`): 0.1 us a link that it knows, in place of 4 us.

    What a link leads to depends on the folder of the page alone, up to the last slash of its path, unless the link
    begins with the query or the fragment, or names a scheme without a host (`http:?a=1` is relative, too).
    """

    def __init__(self, canonical: Callable[[str, str], str | None]) -> None:
        self._canonical = canonical
        self._folders: dict[str, dict[str, str]] = {}
        self._kept = 0

    def of(self, hrefs: Iterable[str], base: str) -> Iterator[tuple[str, str | None]]:
        """Yield each link as written with its canonical URL, None if it has none."""
        known = self._folder(base)
        canonical = self._canonical
        before = len(known)
        for href in hrefs:
            url = known.get(href)
            if url is None:
                url = canonical(href, base)
                if url is not None and _is_folders(href):
                    known[href] = url
            yield href, url
        self._kept += len(known) - before

    def _folder(self, base: str) -> dict[str, str]:
        """Return what is known of links in the folder of a page; a base that is not canonical has its own rules."""
        if self._kept >= LINKS_KEPT:
            self._folders.clear()
            self._kept = 0
        if self._canonical(base, base) != base:
            return {}
        path, _, _ = base.partition("?")
        return self._folders.setdefault(path[: path.rfind("/") + 1], {})


def _is_folders(href: str) -> bool:
    if not href or href[0] in _PAGES_OWN:
        return False
    return ":" not in href or href.startswith(("http://", "https://"))
