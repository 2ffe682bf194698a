"""Defaults for the kinds of links that are followed, and for the media types of pages with links."""

from __future__ import annotations

from ultracrawl.model.page import LinkKind

XHTML = "application/xhtml+xml"

DEFAULT_KINDS = frozenset(
    {
        LinkKind.A,
        LinkKind.AREA,
        LinkKind.FRAME,
        LinkKind.IFRAME,
        LinkKind.CANONICAL,
        LinkKind.ALTERNATE,
        LinkKind.NEXT,
        LinkKind.META_REFRESH,
    }
)
"""Kinds of links followed by default: links between pages, not the resources of a page."""

LINK_TYPES = ("text/*", XHTML, "x-application/wml")
"""Media types of pages whose links are followed by default."""
