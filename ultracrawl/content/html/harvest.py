"""What is gathered while one page is walked, before it becomes a `Page`."""

from __future__ import annotations

from dataclasses import dataclass, field

from ada_url import join_url

from ultracrawl.content.limits import PageLimits
from ultracrawl.model.page import Link, LinkKind

MOST_SECTIONS = 2000
"""Parts of one page; what follows belongs to the last of them."""

_NO_BASES = ("data:", "javascript:")


@dataclass(slots=True)
class OpenSection:
    """A part of the page; its title begins and ends at these places of the list of texts."""

    level: int
    anchor: str
    begin: int
    end: int | None = None


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
    sections: list[OpenSection] = field(default_factory=list)
    block_ends: set[int] = field(default_factory=set)
    """Addresses of nodes that stand behind a block."""
    titles: dict[int, list[OpenSection]] = field(default_factory=dict)
    """Parts whose title ends where a node begins, by its address."""
    too_many_links: bool = False
    meta_budget: int = field(init=False)
    """Characters of META values that may still be read."""
    _has_base: bool = False
    _seen: set[tuple[LinkKind, bool, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.meta_budget = self.limits.text
        self.text_budget = min(self.text_budget, self.limits.text)

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

    def begin_section(self, level: int, anchor: str, end: int) -> None:
        """Let a part begin here, whose title ends in front of the node at the address `end`."""
        opened = OpenSection(level, anchor, len(self.parts))
        self.sections.append(opened)
        self.titles.setdefault(end, []).append(opened)
        self.block_ends.add(end)

    def end_titles(self, here: int) -> None:
        """End the titles that stand in front of a node."""
        for one in self.titles.pop(here):
            one.end = len(self.parts)


def declared_base(url: str, href: str) -> str:
    """Return the base that the `<base href>` of a document at `url` declares; empty for one that does not count.

    HTML Standard, "fallback base URL" and "set the frozen base URL".
    """
    try:
        base: str = join_url(url, href)
    except ValueError:
        return ""
    return "" if base.startswith(_NO_BASES) else base
