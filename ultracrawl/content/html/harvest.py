"""What is gathered while one page is walked, before it becomes a `Page`."""

from __future__ import annotations

from dataclasses import dataclass, field

from ada_url import join_url

from ultracrawl.content.limits import PageLimits
from ultracrawl.model.page import Link, LinkKind

_NO_BASES = ("data:", "javascript:")


@dataclass(slots=True)
class Harvest:
    """The findings of one walk; `url` is the page's own URL, `robots_name` in lower case."""

    url: str
    robots_name: str
    kinds: frozenset[LinkKind]
    limits: PageLimits
    text_budget: int
    """Characters of anchor text that may still be read: nested anchors must not cost quadratic time."""
    watch_nofollow: bool = False
    title: str | None = None
    language: str = ""
    base: str = ""
    canonical: str = ""
    refresh: tuple[float, str] | None = None
    meta: dict[str, list[str]] = field(default_factory=dict)
    robots: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    too_many_links: bool = False
    meta_budget: int = field(init=False)
    """Characters of META values that may still be read."""
    _has_base: bool = False
    _seen: set[tuple[LinkKind, bool, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.meta_budget = self.limits.text

    def is_new(self, href: str, kind: LinkKind, nofollow: bool = False) -> bool:
        """Return whether this link is worth keeping: not empty, no bare fragment, not met before."""
        if not href or (href[0] == "#" and not self.base):
            return False
        key = (kind, nofollow, href)
        if key in self._seen:
            return False
        if len(self._seen) >= self.limits.links:
            self.too_many_links = True
            return False
        self._seen.add(key)
        return True

    def add(self, href: str | None, kind: LinkKind, text: str = "", nofollow: bool = False) -> None:
        """Keep a link once per kind, without the white space around it."""
        if href and self.is_new(href := href.strip(" \t\n\f\r"), kind, nofollow):
            self.links.append(Link(href, kind, text, nofollow))

    def set_base(self, href: str) -> None:
        """Take the first `<base href>`, joined to the page's URL; one that is no URL leaves the page's own."""
        if not self._has_base:
            self._has_base = True
            self.base = declared_base(self.url, href)

    def page_text(self) -> str:
        """Return the visible text so far, white space folded."""
        return " ".join("".join(self.parts).split())


def declared_base(url: str, href: str) -> str:
    """Return the base that the `<base href>` of a document at `url` declares; empty for one that does not count.

    HTML Standard, "fallback base URL" and "set the frozen base URL".
    """
    try:
        base: str = join_url(url, href)
    except ValueError:
        return ""
    return "" if base.startswith(_NO_BASES) else base
