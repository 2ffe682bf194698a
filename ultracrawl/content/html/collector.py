"""The data collected during the walk over one page, before it becomes a `Page`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from ada_url import join_url
from selectolax.lexbor import LexborNode

from ultracrawl.content.charset.urls import with_query_in
from ultracrawl.content.html.tags import EDGE
from ultracrawl.content.limits import PageLimits
from ultracrawl.dataclass import dataclass, field
from ultracrawl.model.page import Link, LinkKind

MOST_SECTIONS = 2000
"""Maximum sections of one page; the rest of the text belongs to the last one."""

LINE_END = "\x1e"
"""Stands between elements that are lines of their own; it is white space to `str.split`."""

_NO_BASES = ("data:", "javascript:")


@dataclass(slots=True)
class Span:
    """A range of the list of texts; `end` None for the end of the list."""

    begin: int
    end: int | None = None


class Region(StrEnum):
    """What an element says about the text in it."""

    INSIDE = "i"
    """It is the text of the page."""
    OUTSIDE = "o"
    """It is no text of the page."""
    BODY = "b"
    """It is declared as the text of an article."""
    ARTICLE = "a"
    """It is an element `article`."""
    COMMENTS = "c"
    """It seems to have comments of readers."""
    BESIDE = "x"
    """It seems to stand beside an article."""


class Heading(NamedTuple):
    """An element that starts a section, or the first text of one whose `name` is not in the text."""

    node: LexborNode
    level: int
    anchor: str
    is_term: bool = False
    """Whether it is a term, which starts a section only if it has an anchor."""
    name: str = ""


class OpenSection(NamedTuple):
    """A section and the range of its title; if that is empty, `name` is the title."""

    title: Span
    level: int
    anchor: str
    name: str = ""


@dataclass(slots=True)
class PageCollector:
    """The data collected in one walk; `url` is the page's own URL, `robots_name` in lower case."""

    url: str
    robots_name: str
    kinds: frozenset[LinkKind]
    limits: PageLimits
    text_budget: int
    """Remaining characters of anchor text: nested anchors must not take quadratic time."""
    charset: str = "utf-8"
    """The codec of the page, in which letters in the query of its base are encoded."""
    watch_nofollow: bool = False
    title: str | None = None
    titles_out_of_sight: int = 0
    frame_budget: int = 1_000_000
    """Characters of documents in attributes of frames that may still be read."""
    orders_in_body: int = 0
    """Statements about the page behind its head whose place was looked at."""
    language: str = ""
    form_method: str = "get"
    """That of the last form."""
    base: str = ""
    canonical: str = ""
    refresh: tuple[float, str] | None = None
    meta: dict[str, list[str]] = field(default_factory=dict)
    robots: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    sections: list[OpenSection] = field(default_factory=list)
    spans: dict[Region, list[Span]] = field(default_factory=lambda: {region: [] for region in Region})
    """Ranges of the text by what is said about them; they may be nested."""
    hidden: list[LexborNode] = field(default_factory=list)
    """Invisible elements; nested ones come after the outer ones."""
    regions: list[tuple[LexborNode, Region]] = field(default_factory=list)
    """Elements that say something about the text in them."""
    is_article: bool = False
    """Whether regions were sought that stand in or beside an article."""
    headings: list[Heading] = field(default_factory=list)
    may_have_tooltips: bool = True
    """Whether headings are searched for tooltips, which are no part of their titles."""
    switches: list[tuple[LexborNode, bool]] = field(default_factory=list)
    """Comments that switch indexing of the following text off (true) or on (false)."""
    too_many_links: bool = False
    meta_budget: int = field(init=False)
    """Remaining characters of META values."""
    seen: set[str | tuple[LinkKind, bool, str]] = field(default_factory=set)
    """Keys of the collected links: the URL as written for kind A without `nofollow`."""
    _has_base: bool = False

    def __post_init__(self) -> None:
        self.meta_budget = self.limits.text
        self.text_budget = min(self.text_budget, self.limits.text)

    def is_new(self, href: str, kind: LinkKind, nofollow: bool = False) -> bool:
        """Return whether a link is to be collected: not empty, not a bare fragment, not a repetition."""
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
        """Collect a link once per kind, without surrounding white space."""
        if href and self.is_new(href := as_written(href), kind, nofollow):
            self.links.append(Link(href, kind, text.replace(EDGE, ""), nofollow))

    def set_base(self, href: str) -> None:
        """Set the base from the first `<base href>`, joined to the page's URL; an invalid one is ignored."""
        if not self._has_base:
            self._has_base = True
            self.base = declared_base(self.url, with_query_in(href, self.charset))

    def keep_spans(self, spans: Sequence[Span], line_ends: Sequence[int] = ()) -> None:
        """Keep only the texts and sections within these spans, which are sorted and do not overlap.

        A line ends at each of `line_ends`, which are sorted.
        """
        parts: list[str] = []
        sections: list[OpenSection] = []
        rest = iter(self.sections)
        section = next(rest, None)
        ends = iter(line_ends)
        line_end = next(ends, None)
        until: int | None = 0  # where the title of the last section ends
        for span in spans:
            while line_end is not None and line_end <= span.begin:
                parts.append(LINE_END)
                line_end = next(ends, None)
            offset = len(parts) - span.begin
            parts += self.parts[span.begin : span.end]
            if until is None or until > span.begin:
                sections[-1] = sections[-1]._replace(
                    title=Span(sections[-1].title.begin, _within(until, offset, parts))
                )
            while section is not None and (span.end is None or section.title.begin < span.end):
                title = section.title
                if title.end is None or title.end > span.begin:
                    begin, until = max(title.begin, span.begin) + offset, title.end
                    end = _within(until, offset, parts)
                    sections.append(section._replace(title=Span(begin, end)))
                section = next(rest, None)
        self.parts, self.sections = parts, sections


def subtract(kept: Iterable[Span], excluded: Iterable[Span], end: int) -> list[Span]:
    """Return the spans that are kept and not excluded, sorted and without overlaps."""
    edges = [(0, 0, 0), (end, 0, 0)]
    for spans, which in ((kept, 1), (excluded, 2)):
        for span in spans:
            last = end if span.end is None else span.end
            edges += [(span.begin, which, 1), (last, which, -1)]
    edges.sort()
    depth = [0, 0, 0]
    remaining: list[Span] = []
    for (at, which, step), (until, _, _) in pairwise(edges):
        depth[which] += step
        if depth[1] and not depth[2] and until > at:
            remaining.append(Span(at, until))
    return remaining


def _within(end: int | None, offset: int, parts: Sequence[str]) -> int:
    """Return an end after a move, at most that of the parts."""
    return len(parts) if end is None else min(end + offset, len(parts))


def as_written(value: str) -> str:
    """Return the value of an attribute without surrounding white space and block marks."""
    return value.strip(" \t\n\f\r").replace(EDGE, "")


def declared_base(url: str, href: str) -> str:
    """Return the base URL declared by the `<base href>` of a document at `url`; empty for an invalid one.

    HTML Standard, "fallback base URL" and "set the frozen base URL".
    """
    try:
        base: str = join_url(url, href)
    except ValueError:
        return ""
    return "" if base.startswith(_NO_BASES) else base
