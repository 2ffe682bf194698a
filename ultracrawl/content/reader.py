"""From an answer to a page, by the rules of one source: which kinds of documents are read, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ultracrawl.content.directives import parse_directives
from ultracrawl.content.followed import DEFAULT_KINDS, LINK_TYPES, XHTML
from ultracrawl.content.html.jsonld import jsonld_attributes
from ultracrawl.content.html.links import plain_urls
from ultracrawl.content.html.main_content import ContentRule, rule_for
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.content.html.selection import PagePicks
from ultracrawl.content.limits import DEFAULTS, LARGE, LINKS, PageLimits, reasons
from ultracrawl.content.mime import type_matches
from ultracrawl.content.text import parse_text
from ultracrawl.model import Conversion, LinkKind, Page
from ultracrawl.model.page import Link

MARKUP = frozenset(
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
"""Media types that are read as HTML; those of mobile phones are near enough to it."""

_NO_KINDS: frozenset[LinkKind] = frozenset()


class AnswerHead(NamedTuple):
    """The headers that say something about the page; values as received."""

    content_type: str = ""
    x_robots_tag: Sequence[str] = ()
    refresh: str = ""


_NO_HEAD = AnswerHead()


@dataclass(frozen=True, slots=True)
class PageReader:
    """Reads answers into pages. Links of the kinds `link_kinds` are taken from pages of the types `link_types`."""

    link_kinds: frozenset[LinkKind] = DEFAULT_KINDS
    link_types: tuple[str, ...] = LINK_TYPES
    robots_name: str = "ultracrawl"
    default_charset: str = ""
    jsonld: bool = False
    """Read JSON-LD of pages, as attributes."""
    picks: PagePicks | None = None
    content: tuple[ContentRule, ...] = ()
    """What of a page is its text; the first rule that is for the page counts."""
    limits: PageLimits = DEFAULTS

    def reads(self, media_type: str) -> bool:
        """Tell whether documents of a media type can be read."""
        return media_type in MARKUP or media_type.startswith("text/")

    def is_large(self, body: bytes, media_type: str) -> bool:
        """Tell whether reading a page takes so long that everything else would wait for it."""
        return len(body) >= LARGE and self.reads(media_type)

    def read(self, body: bytes, url: str, media_type: str, head: AnswerHead = _NO_HEAD) -> Page | None:
        """Return the page, or None if documents of this media type cannot be read."""
        kinds = self.link_kinds if type_matches(media_type, self.link_types) else _NO_KINDS
        if media_type in MARKUP:
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
        return _refreshed(page, head.refresh, kinds) if head.refresh else page

    def page_of(self, conversion: Conversion, media_type: str, head: AnswerHead = _NO_HEAD) -> Page:
        """Return the page of a document that a converter has read."""
        kinds = self.link_kinds if type_matches(media_type, self.link_types) else _NO_KINDS
        links = [Link(href, LinkKind.A) for href in conversion.links] if LinkKind.A in kinds else []
        if LinkKind.TEXT in kinds:
            links += [Link(url, LinkKind.TEXT) for url in dict.fromkeys(plain_urls(conversion.text))]
        kept = tuple(links[: self.limits.links])
        return Page(
            title=conversion.title,
            text=conversion.text,
            language=conversion.language,
            meta=conversion.metadata,
            robots=parse_directives((), head.x_robots_tag, name=self.robots_name),
            links=kept,
            truncated=reasons(
                ("{}", conversion.truncated, bool(conversion.truncated)),
                (LINKS, self.limits.links, len(kept) < len(links)),
            ),
        )


def _refreshed(page: Page, header: str, kinds: frozenset[LinkKind]) -> Page:
    """Return the page with the Refresh header in place of META refresh, as browsers take it."""
    refresh = parse_refresh(header)
    if refresh is None:
        return page
    links = page.links
    if refresh[1] and LinkKind.META_REFRESH in kinds:
        links = (*links, Link(refresh[1], LinkKind.META_REFRESH))
    return replace(page, refresh=refresh, links=links)
