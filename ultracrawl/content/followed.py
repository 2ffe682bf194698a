"""Which links are followed, and in what documents, unless a source says otherwise."""

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
"""What a source follows unless it says otherwise: ways from page to page, not the parts of one page."""

LINK_TYPES = ("text/*", XHTML, "x-application/wml")
"""Media types whose links are followed unless a source says otherwise."""
