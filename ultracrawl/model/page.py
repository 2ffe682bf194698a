"""The result of parsing one HTML response."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ultracrawl.dataclass import dataclass, field


class LinkKind(StrEnum):
    """The element or mechanism that a link comes from; boundary, depth and link options may depend on it."""

    A = "a"
    AREA = "area"
    FRAME = "frame"
    IFRAME = "iframe"
    IMG = "img"
    LINK = "link"
    SCRIPT = "script"
    SCRIPT_TEXT = "script text"
    """A string literal in a script that looks like a URL."""
    STYLE = "style"
    OBJECT = "object"
    EMBED = "embed"
    APPLET = "applet"
    FORM = "form"
    META = "meta"
    META_REFRESH = "meta refresh"
    COMMENT = "comment"
    LAYER = "layer"
    CARD = "card"
    GO = "go"
    TEXT = "text"
    CANONICAL = "canonical"
    ALTERNATE = "alternate"
    NEXT = "next"
    """`<link rel>` of next, prev and similar: the pages of one series."""
    SITEMAP = "sitemap"
    BACKGROUND = "background"
    MEDIA = "media"
    """Sounds, films, their subtitles and posters."""
    CITE = "cite"
    PING = "ping"
    PROFILE = "profile"
    """A vocabulary of metadata."""
    LAZY = "lazy"
    """An attribute from which a script loads something later."""
    JSONLD = "json-ld"
    REDIRECT = "redirect"

    @property
    def option(self) -> str:
        """Its name in the section `links` of a source, which has every kind but redirects."""
        return self.name.lower()


class Link(NamedTuple):
    """A link as written in the page: neither absolute nor canonical."""

    href: str
    kind: LinkKind
    text: str = ""
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class RobotsDirectives:
    """META robots and X-Robots-Tag of one page combined; the strictest directive wins."""

    index: bool = True
    follow: bool = True
    others: tuple[str, ...] = ()
    """Further directives kept as attributes (`nosnippet`, `noarchive`, `noai`, `unavailable_after: ...`)."""


ALLOW_ALL = RobotsDirectives()


SECTION_LEVELS = 7
"""Levels of sections: those of headings in HTML, and below them that of terms (`dt`)."""
WITHOUT_WIDTH = "\u200b"
"""The sign by which Docusaurus and VitePress link to a heading."""
PERMALINKS = f" ¶§#◆🔗{WITHOUT_WIDTH}"
"""Characters that generators add to a heading as a link to it."""


@dataclass(slots=True)
class Section:
    """A part of a text with a heading of its own, or with an id that a URL fragment can name."""

    offset: int
    """Start in the text; the section ends where the next one of the same or a higher level begins."""
    level: int
    """1 (highest heading) to 6; 7 for a part with an id but no heading, such as an entry of a definition list."""
    anchor: str
    """The id; empty if the part has none."""
    title: str
    """The heading as in the text, or its beginning; of a part without one, the text of a link to it."""

    def matches_text(self, text: str) -> bool:
        """Return whether a text has this title at this offset; text that user code has replaced may not."""
        return text.startswith(self.title, self.offset)

    def begin_of_text(self, text: str) -> int:
        """Return where the text behind the title begins: at the offset if the title is that of a link."""
        return self.offset + len(self.title) * self.matches_text(text)


@dataclass(frozen=True, slots=True)
class Page:
    """Everything extracted from a parsed page in one pass; URLs are as written in the page."""

    title: str = ""
    text: str = ""
    language: str = ""
    charset: str = ""
    base: str = ""
    """`<base href>` resolved against the page's URL, or empty."""
    canonical: str = ""
    refresh: tuple[float, str] | None = None
    """META refresh: seconds and target (empty target = the page itself)."""
    meta: dict[str, list[str]] = field(default_factory=dict)
    """META names and properties in lower case, with all their values."""
    robots: RobotsDirectives = ALLOW_ALL
    links: tuple[Link, ...] = ()
    picked: dict[str, list[str]] = field(default_factory=dict)
    """Values extracted by the selectors of the source, by name of the document attribute."""
    sections: tuple[Section, ...] = ()
    """In the order of the text."""
    has_content: bool = True
    """Whether it has one of the elements without which the source does not index a page."""
    truncated: str = ""
    """The limit that left a part of the page unread, in a few words, or empty."""
