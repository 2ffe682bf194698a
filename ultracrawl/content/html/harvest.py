"""What is gathered while one page is walked, before it becomes a `Page`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ada_url import join_url

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
    inside: list[Span] = field(default_factory=list)
    """What is the text of the page, if anything says so."""
    outside: list[Span] = field(default_factory=list)
    """What is no part of the text."""
    open_spans: dict[int, list[Span]] = field(default_factory=dict)
    """Spans that end where a node begins, by its address."""
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

    def begin_span(self, end: int) -> Span:
        """Let a span begin here that ends in front of the node at the address `end`."""
        span = Span(len(self.parts))
        self.open_spans.setdefault(end, []).append(span)
        self.block_ends.add(end)
        return span

    def end_spans(self, here: int) -> None:
        """End the spans that end in front of a node."""
        for one in self.open_spans.pop(here):
            one.end = len(self.parts)

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
                if one.title.begin >= span.begin:
                    end = len(parts) if one.title.end is None else min(one.title.end + moved, len(parts))
                    sections.append(one._replace(title=Span(one.title.begin + moved, end)))
                one = next(rest, None)
        self.parts, self.sections = parts, sections


def declared_base(url: str, href: str) -> str:
    """Return the base that the `<base href>` of a document at `url` declares; empty for one that does not count.

    HTML Standard, "fallback base URL" and "set the frozen base URL".
    """
    try:
        base: str = join_url(url, href)
    except ValueError:
        return ""
    return "" if base.startswith(_NO_BASES) else base
