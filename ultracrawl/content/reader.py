"""From an answer to a page, by the rules of one source: which types are read, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ultracrawl.content.html import parse_html
from ultracrawl.content.links import DEFAULT_KINDS
from ultracrawl.content.mime import effective_type, type_matches
from ultracrawl.content.text import parse_text
from ultracrawl.model import LinkKind, Page

HTML = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class PageReader:
    """Reads answers into pages. `types` are the accepted media types, with wildcards such as `text/*`."""

    types: tuple[str, ...] = ("text/html", "text/plain", "application/xhtml+xml")
    link_kinds: frozenset[LinkKind] = DEFAULT_KINDS
    robots_name: str = "ultracrawl"
    default_charset: str = ""

    def read(self, body: bytes, url: str, content_type: str, x_robots_tag: Sequence[str] = ()) -> Page | None:
        """Return the page, or None if its type is not accepted; a missing type is found from the content."""
        media_type = effective_type(content_type, body)
        if not type_matches(media_type, self.types):
            return None
        if media_type in HTML:
            return parse_html(
                body,
                url=url,
                content_type=content_type,
                link_kinds=self.link_kinds,
                x_robots_tag=x_robots_tag,
                robots_name=self.robots_name,
                default_charset=self.default_charset,
            )
        if media_type.startswith("text/"):
            return parse_text(
                body,
                content_type=content_type,
                x_robots_tag=tuple(x_robots_tag),
                robots_name=self.robots_name,
                default_charset=self.default_charset,
            )
        return None
