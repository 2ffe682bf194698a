"""Parses the body of a response into a `Page` by the options of a source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ultracrawl.content.directives import parse_directives
from ultracrawl.content.followed import DEFAULT_KINDS, LINK_TYPES, XHTML
from ultracrawl.content.html.jsonld import jsonld_attributes
from ultracrawl.content.html.links import joined, links_of_header, plain_urls
from ultracrawl.content.html.main_content import ContentRule, rule_for
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.content.html.selection import PagePicks
from ultracrawl.content.limits import DEFAULT_LIMITS, LARGE_PAGE_BYTES, LINKS_CUT, PageLimits, join_reasons
from ultracrawl.content.mime import type_matches
from ultracrawl.content.text import parse_text
from ultracrawl.dataclass import dataclass, replace
from ultracrawl.model import Conversion, LinkKind, Page
from ultracrawl.model.page import Link

MARKUP_TYPES = frozenset(
    {
        "text/html",
        XHTML,
        "text/vnd.wap.wml",
        "text/wml",
        "text/x-wap.wml",
        "x-application/wml",
        "text/vnd.wap.xml",
        "text/x-hdml",
    }
)
"""Media types parsed as HTML; those for mobile phones are similar enough."""

_NO_KINDS: frozenset[LinkKind] = frozenset()


class PageHeaders(NamedTuple):
    """The response headers that are used for parsing; values as received."""

    content_type: str = ""
    x_robots_tag: Sequence[str] = ()
    refresh: str = ""
    links: Sequence[str] = ()
    """Those of the header Link."""


_NO_HEAD = PageHeaders()


@dataclass(frozen=True, slots=True)
class PageReader:
    """Parses bodies into pages; extracts links of the kinds `link_kinds` from pages of the types `link_types`."""

    link_kinds: frozenset[LinkKind] = DEFAULT_KINDS
    link_types: tuple[str, ...] = LINK_TYPES
    robots_name: str = "ultracrawl"
    default_charset: str = ""
    jsonld: bool = False
    """Extract attributes from JSON-LD."""
    picks: PagePicks | None = None
    content: tuple[ContentRule, ...] = ()
    """Rules that select the text of a page; the first one that applies to its URL counts."""
    limits: PageLimits = DEFAULT_LIMITS

    def reads(self, media_type: str) -> bool:
        """Return whether documents of a media type can be parsed without a converter."""
        return media_type in MARKUP_TYPES or media_type.startswith("text/")

    def takes_long(self, body: bytes, url: str, media_type: str) -> bool:
        """Return whether a page is to be parsed in another process: it is large, or its article is extracted."""
        if len(body) >= LARGE_PAGE_BYTES:
            return self.reads(media_type)
        return bool(self.content) and media_type in MARKUP_TYPES and rule_for(url, self.content).article

    def read(self, body: bytes, url: str, media_type: str, head: PageHeaders = _NO_HEAD) -> Page | None:
        """Parse a body; return None if its media type needs a converter."""
        kinds = self.link_kinds if type_matches(media_type, self.link_types) else _NO_KINDS
        if media_type in MARKUP_TYPES:
            page = parse_html(
                body,
                url=url,
                content_type=head.content_type,
                link_kinds=kinds,
                x_robots_tag=head.x_robots_tag,
                robots_name=self.robots_name,
                default_charset=self.default_charset,
                picks=self.picks,
                content=rule_for(url, self.content),
                xml=media_type == XHTML,
                limits=self.limits,
            )
            if self.jsonld and (values := jsonld_attributes(body, page)):
                page = replace(page, meta={**page.meta, **values})
        elif media_type.startswith("text/"):
            page = parse_text(
                body,
                content_type=head.content_type,
                link_kinds=kinds,
                x_robots_tag=tuple(head.x_robots_tag),
                robots_name=self.robots_name,
                default_charset=self.default_charset,
                limits=self.limits,
            )
        else:
            return None
        if head.refresh:
            page = _refreshed(page, head.refresh, kinds)
        return _related(page, url, head.links, kinds, self.limits) if head.links else page

    def page_of(self, conversion: Conversion, media_type: str, head: PageHeaders = _NO_HEAD) -> Page:
        """Return the page of a converted document."""
        kinds = self.link_kinds if type_matches(media_type, self.link_types) else _NO_KINDS
        links = [Link(href, LinkKind.A) for href in conversion.links] if LinkKind.A in kinds else []
        if LinkKind.TEXT in kinds:
            links += [Link(url, LinkKind.TEXT) for url in dict.fromkeys(plain_urls(conversion.text))]
        kept = tuple(links[: self.limits.links])
        page = Page(
            title=conversion.title,
            text=conversion.text,
            language=conversion.language,
            meta=conversion.metadata,
            robots=parse_directives((), head.x_robots_tag, name=self.robots_name),
            links=kept,
            truncated=join_reasons(
                ("{}", conversion.truncated, bool(conversion.truncated)),
                (LINKS_CUT, self.limits.links, len(kept) < len(links)),
            ),
        )
        return _related(page, "", head.links, kinds, self.limits) if head.links else page


def _related(
    page: Page, url: str, header: Sequence[str], kinds: frozenset[LinkKind], limits: PageLimits
) -> Page:
    """Return the page with the relations of its Link header, whose targets do not depend on the base of the page.

    A canonical link in the page precedes that of the header.
    """
    links, canonical = [*page.links], page.canonical
    for target, kind in links_of_header(header):
        href = joined(url, target) if page.base else target
        if kind is LinkKind.CANONICAL:
            canonical = canonical or href
        if kind in kinds and len(links) < limits.links:
            links.append(Link(href, kind))
    return replace(page, links=tuple(links), canonical=canonical)


def _refreshed(page: Page, header: str, kinds: frozenset[LinkKind]) -> Page:
    """Return the page with the Refresh header, which overrides META refresh as in browsers."""
    refresh = parse_refresh(header)
    if refresh is None:
        return page
    links = page.links
    if refresh[1] and LinkKind.META_REFRESH in kinds:
        links = (*links, Link(refresh[1], LinkKind.META_REFRESH))
    return replace(page, refresh=refresh, links=links)
