"""The `links` section of a source: which kinds of links are followed, and which META refreshes are redirects."""

from typing import Any

from pydantic import Field

from ultracrawl.content.converters.registry import BUILT_IN_TYPES, converter_table
from ultracrawl.content.followed import DEFAULT_KINDS, LINK_TYPES
from ultracrawl.model import LinkKind
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import MediaTypes, Seconds


def _switch(kind: LinkKind) -> Any:
    default = kind in DEFAULT_KINDS
    return Field(default=default, examples=[not default])


class LinksSection(Section):
    """Kinds of links that are followed, each with its own switch (FAST `link_extraction`), and META refresh."""

    a: bool = _switch(LinkKind.A)
    """Links of `<a>`."""
    area: bool = _switch(LinkKind.AREA)
    """Links of `<area>` in image maps."""
    frame: bool = _switch(LinkKind.FRAME)
    """Pages in `<frame>`, their descriptions (`longdesc`), and the links of `<noframes>`."""
    iframe: bool = _switch(LinkKind.IFRAME)
    """Pages in `<iframe>`, and their descriptions."""
    canonical: bool = _switch(LinkKind.CANONICAL)
    """`<link rel=canonical>`, and links of that relation in the header Link."""
    alternate: bool = _switch(LinkKind.ALTERNATE)
    """`<link rel=alternate>`, also in the header Link: translations, feeds, other versions."""
    next: bool = _switch(LinkKind.NEXT)
    """`<link>`, also in the header Link, with `rel` of next, prev, first, last and similar: pages of a series."""
    meta_refresh: bool = _switch(LinkKind.META_REFRESH)
    """The target of a META refresh or Refresh header that is not a redirect."""
    link: bool = _switch(LinkKind.LINK)
    """All other `<link>`s, also in the header Link: style sheets, icons, licences, help, manifests."""
    img: bool = _switch(LinkKind.IMG)
    """Images: `src`, `srcset` and `longdesc`; icons of menus and images in SVG."""
    background: bool = _switch(LinkKind.BACKGROUND)
    """Background images: `background` of pages and tables, and `url(...)` in the attribute `style`."""
    media: bool = _switch(LinkKind.MEDIA)
    """Sounds, films and subtitles: `src` and `poster` of `<audio>`, `<video>`, `<source>` and `<track>`."""
    lazy: bool = _switch(LinkKind.LAZY)
    """What scripts load later: `data-src`, `data-srcset`, `data-original`, `data-href` and similar of any element."""
    cite: bool = _switch(LinkKind.CITE)
    """Sources of quotes and changes: `cite` of `<blockquote>`, `<q>`, `<del>` and `<ins>`."""
    jsonld: bool = _switch(LinkKind.JSONLD)
    """Addresses in JSON-LD."""
    script: bool = _switch(LinkKind.SCRIPT)
    """Scripts: `src` of `<script>`."""
    script_text: bool = _switch(LinkKind.SCRIPT_TEXT)
    """Strings in scripts that look like URLs. The scripts are not run."""
    style: bool = _switch(LinkKind.STYLE)
    """`url(...)` and `@import` inside `<style>`."""
    object: bool = _switch(LinkKind.OBJECT)
    """`data` and `archive` of `<object>`, or its `codebase`."""
    embed: bool = _switch(LinkKind.EMBED)
    """`src` of `<embed>`."""
    applet: bool = _switch(LinkKind.APPLET)
    """`code`, `archive` and `object` of `<applet>`, or its `codebase`."""
    form: bool = _switch(LinkKind.FORM)
    """`action` of GET forms, and `formaction` of their buttons, without fields."""
    meta: bool = _switch(LinkKind.META)
    """META values that are URLs."""
    comment: bool = _switch(LinkKind.COMMENT)
    """Links and URLs inside comments."""
    layer: bool = _switch(LinkKind.LAYER)
    """Pages in `<layer>` and `<ilayer>`."""
    card: bool = _switch(LinkKind.CARD)
    """Event links of `<card>` (WML)."""
    go: bool = _switch(LinkKind.GO)
    """Links of `<go>` (WML)."""
    ping: bool = _switch(LinkKind.PING)
    """Addresses that a browser tells about a click: `ping` of `<a>` and `<area>`."""
    profile: bool = _switch(LinkKind.PROFILE)
    """Vocabularies of metadata: `profile` of `<head>`, `itemtype` and `vocab` of any element."""
    text: bool = _switch(LinkKind.TEXT)
    """Absolute URLs in the visible text, also of plain-text documents."""
    types: MediaTypes = Field(
        default=(*LINK_TYPES, *BUILT_IN_TYPES), examples=[["text/html", "application/xhtml+xml"]]
    )
    """Media types of documents whose links are extracted. By default also those that plug-ins convert."""
    refresh_redirects: bool = Field(default=True, examples=[False])
    """Treat a quick META refresh or Refresh header as a redirect. The page is not indexed then."""
    refresh_seconds: Seconds = Field(default=3.0, examples=[3])
    """Maximum delay of a refresh that is treated as a redirect, in seconds."""

    @property
    def kinds(self) -> frozenset[LinkKind]:
        """The enabled kinds."""
        return frozenset(kind for kind in LinkKind if getattr(self, kind.option, False))

    @property
    def all_types(self) -> tuple[str, ...]:
        """The media types of documents whose links are extracted."""
        if "types" in self.model_fields_set:
            return self.types
        return tuple(dict.fromkeys((*self.types, *converter_table().by_type)))

    def redirects(self, seconds: float) -> bool:
        """Return whether a refresh after that many seconds is a redirect (FAST `html_redir_thresh`)."""
        return self.refresh_redirects and seconds <= self.refresh_seconds
