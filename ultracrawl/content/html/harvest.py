"""What is gathered while one page is walked, before it becomes a `Page`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ada_url import join_url
from selectolax.lexbor import LexborNode

from ultracrawl.content.html.tags import EDGE
from ultracrawl.content.limits import PageLimits
from ultracrawl.model.page import Link, LinkKind

MOST_SECTIONS = 2000
"""Parts of one page; what follows belongs to the last of them."""

_NO_BASES = ("data:", "javascript:")


@dataclass(slots=True)
class Span:
    """A piece of the list of texts: from one place to another, None for its end."""

    begin: int
    end: int | None = None


class Heading(NamedTuple):
    """An element that begins a part of the page."""

    node: LexborNode
    level: int
    anchor: str


class OpenSection(NamedTuple):
    """A part of the page and where its title stands."""

    title: Span
    level: int
    anchor: str


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
    titles_out_of_sight: int = 0
    language: str = ""
    base: str = ""
    canonical: str = ""
    refresh: tuple[float, str] | None = None
    meta: dict[str, list[str]] = field(default_factory=dict)
    robots: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    sections: list[OpenSection] = field(default_factory=list)
    inside: list[Span] = field(default_factory=list)
    """What is the text of the page, if anything says so."""
    outside: list[Span] = field(default_factory=list)
    """What is no part of the text."""
    hidden: list[LexborNode] = field(default_factory=list)
    """Elements that are out of sight; one that lies within another of the same kind comes after it."""
    regions: list[tuple[LexborNode, bool]] = field(default_factory=list)
    """Elements that are the text of the page (true) or no part of it."""
    headings: list[Heading] = field(default_factory=list)
    switches: list[tuple[LexborNode, bool]] = field(default_factory=list)
    """Comments behind which texts are left out (true), or no longer."""
    too_many_links: bool = False
    meta_budget: int = field(init=False)
    """Characters of META values that may still be read."""
    seen: set[str | tuple[LinkKind, bool, str]] = field(default_factory=set)
    """The links that were kept; of kind A and without `nofollow` as written."""
    _has_base: bool = False

    def __post_init__(self) -> None:
        self.meta_budget = self.limits.text
        self.text_budget = min(self.text_budget, self.limits.text)

    def is_new(self, href: str, kind: LinkKind, nofollow: bool = False) -> bool:
        """Return whether this link is worth keeping: not empty, no bare fragment, not met before."""
        if not href or (href[0] == "#" and not self.base):
            return False
        key = href if kind is LinkKind.A and not nofollow else (kind, nofollow, href)
        if key in self.seen:
            return False
        if len(self.seen) >= self.limits.links:
            self.too_many_links = True
            return False
        self.seen.add(key)
        return True

    def add(self, href: str | None, kind: LinkKind, text: str = "", nofollow: bool = False) -> None:
        """Keep a link once per kind, without the white space around it."""
        if href and self.is_new(href := as_written(href), kind, nofollow):
            self.links.append(Link(href, kind, text.replace(EDGE, ""), nofollow))

    def set_base(self, href: str) -> None:
        """Take the first `<base href>`, joined to the page's URL; one that is no URL leaves the page's own."""
        if not self._has_base:
            self._has_base = True
            self.base = declared_base(self.url, href)

    def keep_spans(self, spans: Sequence[Span]) -> None:
        """Keep of texts and sections what these spans have, which are in order and do not overlap."""
        parts: list[str] = []
        sections: list[OpenSection] = []
        rest = iter(self.sections)
        one = next(rest, None)
        for span in spans:
            moved = len(parts) - span.begin
            parts += self.parts[span.begin : span.end]
            while one is not None and (span.end is None or one.title.begin < span.end):
                if one.title.end is None or one.title.end > span.begin:
                    end = len(parts) if one.title.end is None else min(one.title.end + moved, len(parts))
                    begin = max(one.title.begin, span.begin) + moved
                    sections.append(OpenSection(Span(begin, end), one.level, one.anchor))
                one = next(rest, None)
        self.parts, self.sections = parts, sections


def as_written(value: str) -> str:
    """Return the value of an attribute without the white space around it, as it was before edges were marked."""
    return value.strip(" \t\n\f\r").replace(EDGE, "")


def declared_base(url: str, href: str) -> str:
    """Return the base that the `<base href>` of a document at `url` declares; empty for one that does not count.

    HTML Standard, "fallback base URL" and "set the frozen base URL".
    """
    try:
        base: str = join_url(url, href)
    except ValueError:
        return ""
    return "" if base.startswith(_NO_BASES) else base
