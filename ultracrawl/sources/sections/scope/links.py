"""The `links` section of a source: where in a page links are looked for, and which of them are redirects."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ultracrawl.content.converters.registry import OUR_TYPES, converter_table
from ultracrawl.content.followed import DEFAULT_KINDS, LINK_TYPES
from ultracrawl.model import LinkKind
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import MediaTypes, Seconds


def _switch(kind: LinkKind) -> Any:
    default = kind in DEFAULT_KINDS
    return Field(default=default, examples=[not default])


class LinksSection(Section):
    """Kinds of links that are followed, each switched by itself (FAST `link_extraction`), and META refresh."""

    a: bool = _switch(LinkKind.A)
    """Links of `<a>`."""
    area: bool = _switch(LinkKind.AREA)
    """Links of `<area>` in image maps."""
    frame: bool = _switch(LinkKind.FRAME)
    """Pages in `<frame>`."""
    iframe: bool = _switch(LinkKind.IFRAME)
    """Pages in `<iframe>`."""
    canonical: bool = _switch(LinkKind.CANONICAL)
    """`<link rel=canonical>`."""
    alternate: bool = _switch(LinkKind.ALTERNATE)
    """`<link rel=alternate>`: translations, feeds, other versions."""
    next: bool = _switch(LinkKind.NEXT)
    """`<link>` with `rel` of next, prev, first, last and their like: pages of a series."""
    meta_refresh: bool = _switch(LinkKind.META_REFRESH)
    """The target of META refresh or of a Refresh header that is no redirect."""
    link: bool = _switch(LinkKind.LINK)
    """Every other `<link>`: style sheets, icons, help."""
    img: bool = _switch(LinkKind.IMG)
    """Images: `src`, `srcset` and `longdesc`."""
    script: bool = _switch(LinkKind.SCRIPT)
    """Scripts: `src` of `<script>`."""
    script_text: bool = _switch(LinkKind.SCRIPT_TEXT)
    """Texts inside scripts that look like URLs; the scripts are not run."""
    style: bool = _switch(LinkKind.STYLE)
    """`url(...)` and `@import` inside `<style>`."""
    object: bool = _switch(LinkKind.OBJECT)
    """`data` of `<object>`."""
    embed: bool = _switch(LinkKind.EMBED)
    """`src` of `<embed>`."""
    applet: bool = _switch(LinkKind.APPLET)
    """`code` and `archive` of `<applet>`."""
    form: bool = _switch(LinkKind.FORM)
    """`action` of forms that are sent by GET, without fields."""
    meta: bool = _switch(LinkKind.META)
    """META values that are a URL as a whole."""
    comment: bool = _switch(LinkKind.COMMENT)
    """Links and URLs inside comments."""
    layer: bool = _switch(LinkKind.LAYER)
    """Pages in `<layer>` and `<ilayer>`."""
    card: bool = _switch(LinkKind.CARD)
    """Event links of `<card>` (WML)."""
    go: bool = _switch(LinkKind.GO)
    """Links of `<go>` (WML)."""
    text: bool = _switch(LinkKind.TEXT)
    """Absolute URLs in the visible text, also of plain text."""
    types: MediaTypes = Field(
        default=(*LINK_TYPES, *OUR_TYPES), examples=[["text/html", "application/xhtml+xml"]]
    )
    """Media types of pages and documents in which links are looked for. Unless written, also what plug-ins read."""
    refresh_redirects: bool = Field(default=True, examples=[False])
    """Take a quick META refresh or Refresh header for a redirect; the page is not indexed then."""
    refresh_seconds: Seconds = Field(default=3.0, examples=[3])
    """Most seconds of a refresh that is a redirect; a slower one belongs to a page to be read."""

    @property
    def kinds(self) -> frozenset[LinkKind]:
        """The kinds that are switched on."""
        return frozenset(kind for kind in LinkKind if getattr(self, kind.name.lower(), False))

    @property
    def all_types(self) -> tuple[str, ...]:
        """The types in which links are looked for."""
        if "types" in self.model_fields_set:
            return self.types
        return tuple(dict.fromkeys((*self.types, *converter_table().by_type)))

    def redirects(self, seconds: float) -> bool:
        """Return whether a refresh after that many seconds is a redirect (FAST `html_redir_thresh`)."""
        return self.refresh_redirects and seconds <= self.refresh_seconds
